"""Statements that remove ended jobs from the mailboxes."""

from __future__ import annotations

from sqlalchemy import Connection

_BLOCKS = "SELECT pg_relation_size('job') / current_setting('block_size')::int"
# By the place in the table: an index on the end of jobs would cost every job, and a walk along the
# primary key seven times as much as this one.
_DELETE = """
DELETE FROM job
WHERE ctid >= %s::tid AND ctid < %s::tid AND state IN ('done', 'cancelled')
  AND finished_at < now() - %s * interval '1 second'
"""


def job_blocks(connection: Connection) -> int:
    """Return how many blocks the table of jobs has."""
    return int(connection.exec_driver_sql(_BLOCKS).scalar_one())


def delete_ended_jobs(connection: Connection, blocks: range, *, keep_s: float) -> int:
    """Delete jobs in these blocks that are done or cancelled for longer; return how many."""
    places = (f"({blocks.start},0)", f"({blocks.stop},0)")
    return connection.exec_driver_sql(_DELETE, (*places, keep_s)).rowcount
