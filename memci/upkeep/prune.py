"""Removes rows that nobody needs any more: done jobs and old receipts, in small bites."""

from __future__ import annotations

from memci.queue.prune import delete_ended_jobs, job_blocks
from memci.storage.reading.receipts import (
    agents_with_old_receipts,
    delete_old_receipts,
    note_oldest_receipt,
)
from memci.storage.session import Database

# 4 MiB of the table: some milliseconds.
_BLOCKS = 512
_RECEIPTS = 5_000
# An agent is looked at when its oldest receipt is so much older than need be: else every run would
# look at every agent that is read, for a handful of receipts.
_LATE = 1.1
# The sweeper waits while this runs. Those whose receipts are the oldest come first.
_AGENTS = 1_000


def prune_done_jobs(database: Database, *, keep_s: float) -> int:
    """Delete done and cancelled jobs that ended longer ago; dead ones stay until decided on.

    Walks once through the table. A job that moves within it meanwhile waits for the next run.
    """
    with database.upkeep_transaction() as connection:
        blocks = job_blocks(connection)
    removed = 0
    for first in range(0, blocks, _BLOCKS):
        with database.upkeep_transaction() as connection:
            bite = range(first, first + _BLOCKS)
            removed += delete_ended_jobs(connection, bite, keep_s=keep_s)
    return removed


def prune_receipts(database: Database, *, keep_s: float) -> int:
    """Delete receipts that are older, of agents that have any that are a tenth older still.

    Agent by agent, since upkeep itself sees no content (M21).
    """
    with database.upkeep_transaction() as connection:
        agents = agents_with_old_receipts(connection, older_s=keep_s * _LATE, most=_AGENTS)
    return sum(_prune_receipts_of(database, agent_id, keep_s) for agent_id in agents)


def _prune_receipts_of(database: Database, agent_id: str, keep_s: float) -> int:
    removed, bite = 0, _RECEIPTS
    while bite == _RECEIPTS:
        with database.agent_transaction(agent_id, durable=False) as connection:
            bite = delete_old_receipts(connection, agent_id, keep_s=keep_s, most=_RECEIPTS)
        removed += bite
    # By itself: it locks the lane.
    with database.agent_transaction(agent_id, durable=False) as connection:
        note_oldest_receipt(connection, agent_id)
    return removed
