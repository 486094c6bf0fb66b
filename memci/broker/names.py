"""Names of queues and tasks, as every producer sees them (queue.md, "Messages")."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from kombu import Exchange, Queue

LANE_QUEUE = "memci.lane"
COMPRESS_QUEUE = "memci.compress"
READ_QUEUE = "memci.read"
UPKEEP_QUEUE = "memci.upkeep"
ANNOUNCE_QUEUE = "memci.announce"
AGENT_PREFIX = "memci.agent."

CREATE_TASK = "memci.memory.create"
COMPRESS_TASK = "memci.memory.compress"
LANE_RUN_TASK = "memci.lane.run"
LANE_COMPRESS_TASK = "memci.lane.compress"
DELIVER_TASK = "memci.webhooks.deliver"

ReadUse: TypeAlias = Literal[
    "recall", "search", "assemble", "window", "summarise", "handover", "compare", "items"
]

# Arguments mean something to RabbitMQ only. Quorum queues outlive the loss of a node, and Celery
# sees by them that it has to ask for its prefetch consumer by consumer.
_QUORUM: Mapping[str, Any] = {"x-queue-type": "quorum"}


def read_task(use: ReadUse) -> str:
    """Return the task that answers one kind of read."""
    return f"memci.read.{use}"


def agent_queue_name(agent_id: str) -> str:
    """Return the name of the queue that is an agent's address."""
    return f"{AGENT_PREFIX}{agent_id}"


def queue(name: str) -> Queue:
    """Return a queue that leaves nothing behind in the broker when it is empty.

    With the nameless exchange kombu binds nothing; given as a mere string it would leave two
    binding keys per queue, and an empty ``exchange=""`` would silently mean the default queue.
    """
    return Queue(name, Exchange(""), routing_key=name, queue_arguments=dict(_QUORUM))
