"""Takes two messages of an agent, says so, and holds them: to be frozen or killed.

``python -m tests.rabbitmq.holder URL AGENT HEARTBEAT_S``
"""

import sys

from memci.broker.app import make_producer
from memci.broker.rabbitmq_queues import AmqpAgentQueues

url, agent, heartbeat_s = sys.argv[1:]
queues = AmqpAgentQueues(make_producer(url), list, heartbeat_s=int(heartbeat_s))
batch = queues.take(agent, 2, 1_000_000)
sys.stdout.write(f"{len(batch.raw)}\n")
sys.stdout.flush()
sys.stdin.read()
