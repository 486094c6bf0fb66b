"""Looking at who waits for whom in the database."""

from __future__ import annotations

import psycopg


def waiting_for_locks(watching: psycopg.Connection) -> int:
    """How many sessions of this database wait for a lock; ``watching`` commits each statement."""
    row = watching.execute(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).fetchone()
    assert row is not None
    return int(row[0])
