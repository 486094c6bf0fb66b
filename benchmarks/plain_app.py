"""Bare Celery with a task that does nothing: what the lane is compared with."""

from __future__ import annotations

import os

from celery import Celery

app = Celery("plain", broker=os.environ["MEMCI_BROKER_URL"])
app.conf.update(
    task_ignore_result=True,
    worker_enable_remote_control=True,
    broker_connection_retry_on_startup=True,
)


@app.task(name="bench.nothing")
def nothing(agent_id: str) -> None:
    """Do nothing for an agent."""
