"""An agent's queue on RabbitMQ as docs/how-to/celery-producers.md has its producers declare it."""

from __future__ import annotations

from kombu import Exchange, Queue

from memci.broker.names import agent_queue_name

_ARGUMENTS = {
    "x-queue-type": "quorum",
    # Messages that a frozen worker holds keep later ones back, so the order survives it.
    "x-single-active-consumer": True,
    # RabbitMQ removes an unused queue even if it holds messages: longer than any outage of ours.
    "x-expires": 7 * 86_400_000,
}


def agent_queue(agent_id: str) -> Queue:
    """RabbitMQ wants the same declaration from all; memci itself declares no agent's queue."""
    name = agent_queue_name(agent_id)
    return Queue(name, Exchange(""), routing_key=name, queue_arguments=dict(_ARGUMENTS))
