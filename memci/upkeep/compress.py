"""Asks for the passes that time brings (M16)."""

from __future__ import annotations

from memci.queue.passes import ask_for_active, ask_for_idle
from memci.storage.session import Database

_DAY_S = 86_400
# A period that comes a little early is still that period; two beats in one period ask once.
_EARLY = 0.9


def request_due_passes(database: Database, *, period_s: float, idle_passes_per_day: int) -> int:
    """Raise the request of every agent that is due; the sweeper wakes the workers.

    Returns how many agents that were.
    """
    with database.upkeep_transaction() as connection:
        due = ask_for_active(connection, quiet_s=period_s * _EARLY)
        if idle_passes_per_day:
            due += ask_for_idle(connection, quiet_s=_DAY_S / idle_passes_per_day)
    return due
