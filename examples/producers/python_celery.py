"""A producer without memci: it needs only Celery and the URL of memci's broker.

    pip install 'celery[redis]'
    MEMCI_BROKER_URL=redis://… python python_celery.py alice

With RabbitMQ the URL is amqp://…, and Celery alone is enough.

Stores messages, requests a compression pass, and reads a message list that fits a token budget.
docs/how-to/celery-producers.md describes every message.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from celery import Celery
from kombu import Exchange, Queue

BROKER_URL = os.environ.get("MEMCI_BROKER_URL", "redis://127.0.0.1:6379/0")
IS_RABBITMQ = BROKER_URL.startswith("amqp")

# The broker also carries the results of reads. Writing needs nothing else.
app = Celery("producer", broker=BROKER_URL, backend="rpc://" if IS_RABBITMQ else BROKER_URL)
app.conf.update(task_serializer="json", accept_content=["json"], result_accept_content=["json"])


def queue(name: str) -> Queue:
    """Return a queue as all producers of memci declare it.

    On RabbitMQ, all need the same arguments. On Redis a queue name alone would work, too, but leave
    two binding keys when the queue is empty.
    """
    arguments: dict[str, Any] = {"x-queue-type": "quorum"} if IS_RABBITMQ else {}
    if IS_RABBITMQ and name.startswith("memci.agent."):
        arguments |= {"x-single-active-consumer": True, "x-expires": 7 * 86_400_000}
    return Queue(name, Exchange(""), routing_key=name, queue_arguments=arguments)


def announce(agent_id: str) -> None:
    """Tell memci on RabbitMQ, once for each agent, that its queue exists."""
    with app.producer_or_acquire() as producer:
        producer.publish(
            agent_id,
            exchange="",
            routing_key="memci.announce",
            content_type="text/plain",
            content_encoding="utf-8",
        )


def remember(agent_id: str, messages: list[dict[str, Any]]) -> str:
    """Send messages; return the id of the job that makes memories of them."""
    sent = app.send_task(
        "memci.memory.create",
        kwargs={"v": 1, "agent_id": agent_id, "messages": messages},
        queue=queue(f"memci.agent.{agent_id}"),
        ignore_result=True,
    )
    return str(sent.id)


def compress(agent_id: str, reason: str) -> None:
    """Request one more pass over an agent's memories; several requests become one."""
    app.send_task(
        "memci.memory.compress",
        kwargs={"v": 1, "agent_id": agent_id, "reason": reason},
        queue=queue(f"memci.agent.{agent_id}"),
        ignore_result=True,
    )


def assemble(agent_id: str, query: str, budget_tokens: int, **more: Any) -> dict[str, Any]:
    """Get a message list of at most ``budget_tokens``, ready for any chat API.

    ``min_seq`` and ``wait_ms`` make it wait until memory has caught up with a message.
    """
    result = app.send_task(
        "memci.read.assemble",
        kwargs={
            "v": 1, "agent_id": agent_id, "query": query, "budget_tokens": budget_tokens, **more
        },
        queue=queue("memci.read"),
        ignore_result=False,
        expires=40,
    )  # fmt: skip
    try:
        answer: dict[str, Any] = result.get(timeout=40)
    finally:
        result.forget()
    return answer


CONVERSATION = [
    {"role": "user", "content": "My sister Ada moves to Lisbon in May."},
    {"role": "assistant", "content": "Noted: Ada moves to Lisbon in May."},
    {"role": "user", "content": "我对花生过敏，订餐时请避开。"},
    {"role": "assistant", "content": "好的，订餐时会避开花生。"},
]


def main(agent_id: str) -> None:
    """Send a conversation to memci, and ask about it; print one JSON object."""
    job_id = remember(agent_id, CONVERSATION)
    if IS_RABBITMQ:
        announce(agent_id)
    compress(agent_id, "example")
    # The messages of a new agent have the seqs 1, 2, 3, …
    context = assemble(
        agent_id, "Where will Ada live?", 400, min_seq=len(CONVERSATION), wait_ms=30_000
    )
    print(json.dumps({"job_id": job_id, "context": context}, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "example")
