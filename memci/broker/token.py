"""Tokens: small shared messages that say "there is work" (queue.md).

A token may be lost, doubled or reordered without harm, so publishing one never raises and never
makes its caller wait long: the sweeper puts out what is missing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any

import structlog
from celery import Celery

from memci.broker.errors import BROKER_ERRORS
from memci.broker.names import (
    COMPRESS_QUEUE,
    LANE_COMPRESS_TASK,
    LANE_QUEUE,
    LANE_RUN_TASK,
    queue,
)

_LANE = queue(LANE_QUEUE)
_COMPRESS = queue(COMPRESS_QUEUE)

# After a failure the broker is left alone for so long: an accept must not wait for it each time.
_REST_S = 1.0

_log = structlog.get_logger(__name__)


class Tokens:
    """Publishes tokens; safe for threads."""

    def __init__(self, app: Celery) -> None:
        """Publish through ``app``'s pool of connections."""
        self._app = app
        self._rest_until = 0.0
        self._lock = Lock()

    def wake_lane(self, agent_id: str, *, rung: bool = False) -> bool:
        """Tell lane workers that there is work; the agent is where to look first.

        ``rung`` says that the bell has seen something in the agent's own queue.
        """
        arguments = {"agent_id": agent_id, "rung": True} if rung else {"agent_id": agent_id}
        return self._publish(LANE_RUN_TASK, _LANE, arguments)

    def wake_compress(self, agent_id: str) -> bool:
        """Tell compress workers that a pass is wanted."""
        return self._publish(LANE_COMPRESS_TASK, _COMPRESS, {"agent_id": agent_id})

    def _publish(self, task: str, where: object, arguments: Mapping[str, Any]) -> bool:
        if time.monotonic() < self._rest_until:
            return False
        try:
            # Said for each: otherwise Celery subscribes to a result, and waits for its broker.
            self._app.send_task(
                task, kwargs=arguments, queue=where, retry=False, ignore_result=True
            )
        except BROKER_ERRORS as error:
            with self._lock:
                self._rest_until = time.monotonic() + _REST_S
            _log.warning("token not published", task=task, error=type(error).__name__)
            return False
        return True
