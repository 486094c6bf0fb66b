"""Reads which sessions of the database wait for locks."""

from __future__ import annotations

import psycopg


def waiting_for_locks(watching: psycopg.Connection) -> int:
    """The number of sessions that wait for a lock; ``watching`` must be in autocommit mode."""
    row = watching.execute(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).fetchone()
    assert row is not None
    return int(row[0])
