"""Removes rows that nobody needs any more: done jobs and old receipts."""

from __future__ import annotations

from memci.storage.session import Database

# Small bites: no lane waits for housekeeping.
_BITE = 5_000
_DONE_JOBS = """
DELETE FROM job WHERE (agent_id, id) IN (
    SELECT agent_id, id FROM job
    WHERE state IN ('done', 'cancelled') AND finished_at < now() - %s * interval '1 second'
    LIMIT %s)
"""
_RECEIPTS = "DELETE FROM receipt WHERE created_at < now() - %s * interval '1 second'"
# Who was never read has no receipt.
_AGENTS = "SELECT agent_id FROM lane WHERE read_at IS NOT NULL ORDER BY agent_id"


def prune_done_jobs(database: Database, *, keep_s: float) -> int:
    """Delete done and cancelled jobs that ended longer ago; dead ones stay until decided on."""
    removed = 0
    while True:
        with database.upkeep_transaction() as connection:
            bite = connection.exec_driver_sql(_DONE_JOBS, (keep_s, _BITE)).rowcount
        removed += bite
        if bite < _BITE:
            return removed


def prune_receipts(database: Database, *, keep_s: float) -> int:
    """Delete receipts that are older, agent by agent: upkeep itself sees no content."""
    with database.upkeep_transaction() as connection:
        agents = [row[0] for row in connection.exec_driver_sql(_AGENTS)]
    removed = 0
    for agent_id in agents:
        with database.agent_transaction(agent_id, durable=False) as connection:
            removed += connection.exec_driver_sql(_RECEIPTS, (keep_s,)).rowcount
    return removed
