"""Asks for agents whose short-term memories have come to the end of their term (R5)."""

from __future__ import annotations

from memci.queue.consolidation import ask_due
from memci.storage.session import Database

# Lanes that are locked at once: producers wait for them.
_BITE = 500
# The sweeper waits while this runs; those that are due the longest come first.
_MOST = 20_000


def request_due_consolidations(database: Database) -> int:
    """Put a job into the mailbox of every agent that is due; the sweeper wakes the workers.

    Returns how many agents that were. One whose lane is locked is due at the next beat.
    """
    asked = 0
    while asked < _MOST:
        with database.upkeep_transaction() as connection:
            bite = ask_due(connection, _BITE)
        asked += bite
        if bite < _BITE:
            break
    return asked
