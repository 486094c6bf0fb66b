"""Waiting until memory has caught up (R18)."""

from __future__ import annotations

import time

from memci.shapes.read import Fresh
from memci.storage.reading.state import progress
from memci.storage.session import Database

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.05


def wait_until_fresh(database: Database, agent_id: str, request: Fresh) -> None:
    """Return once memory has caught up with ``min_seq``, or after ``wait_ms`` all the same.

    Holds no transaction while it waits.
    """
    if request.min_seq is None or not request.wait_ms:
        return
    deadline = time.monotonic() + request.wait_ms / 1000
    pause = _FIRST_PAUSE_S
    while True:
        with database.lane_transaction(durable=False) as connection:
            now = progress(connection, agent_id)
        left = deadline - time.monotonic()
        if now.seq >= request.min_seq or left <= 0:
            return
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
