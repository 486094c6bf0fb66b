"""Bare Celery with tasks that do nothing, the baseline of lane and reads."""

from __future__ import annotations

import os

from celery import Celery

NOTHING_TASK = "bench.nothing"
RESULT_TASK = "bench.result"

_broker = os.environ.get("MEMCI_BROKER_URL", "")
app = Celery("plain", broker=_broker, backend=_broker)
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True)


def nothing(agent_id: str) -> None:
    """Do nothing for an agent."""


def result(agent_id: str) -> str:
    """Return an empty result."""
    return agent_id


app.task(name=NOTHING_TASK)(nothing)
app.task(name=RESULT_TASK, ignore_result=False)(result)
