"""Asks for the passes that time brings (M16).

Asks for agents whose short-term memories have come to the end of their term (R5).
"""

from __future__ import annotations

from memci.queue.network_jobs import (
    ask_for_active,
    ask_for_due_consolidations,
    ask_for_idle,
    ask_for_one,
    left_active,
)
from memci.storage.session import Database

_DAY_S = 86_400
# A period that comes a little early is still that period; two beats in one period ask once.
_EARLY = 0.9
# Lanes that are locked at once: producers wait for them.
_BITE = 500


def request_due_passes(database: Database, *, period_s: float, idle_passes_per_day: int) -> int:
    """Raise the request of every agent that is due; the sweeper wakes the workers.

    Returns how many agents that were. One whose lane stays locked is due at the next beat.
    """
    quiet_s = period_s * _EARLY
    due = _ask_for_free(database, quiet_s) + _ask_for_locked(database, quiet_s)
    if idle_passes_per_day:
        with database.upkeep_transaction() as connection:
            due += ask_for_idle(connection, quiet_s=_DAY_S / idle_passes_per_day)
    return due


def _ask_for_free(database: Database, quiet_s: float) -> int:
    asked, after = 0, ""
    while True:
        with database.upkeep_transaction() as connection:
            bite = ask_for_active(connection, quiet_s=quiet_s, after=after, most=_BITE)
        asked += len(bite)
        if len(bite) < _BITE:
            return asked
        after = bite[-1]


def _ask_for_locked(database: Database, quiet_s: float) -> int:
    """Ask for those whose lanes were locked, one by one."""
    with database.upkeep_transaction() as connection:
        left = left_active(connection, quiet_s=quiet_s)
    return sum(ask_for_one(database, each, quiet_s=quiet_s) for each in left)


# Lanes that are locked at once: producers wait for them.

# The sweeper waits while this runs; those that are due the longest come first.
_MOST = 20_000


def request_due_consolidations(database: Database) -> int:
    """Put a job into the mailbox of every agent that is due; the sweeper wakes the workers.

    Returns how many agents that were. One whose lane is locked is due at the next beat.
    """
    asked = 0
    while asked < _MOST:
        with database.upkeep_transaction() as connection:
            bite = ask_for_due_consolidations(connection, _BITE)
        asked += bite
        if bite < _BITE:
            break
    return asked
