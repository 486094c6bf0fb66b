"""Periodic duties: asks for due passes and consolidations, removes old rows and orphaned texts.

A writer that dies between storing a text and committing the page leaves one behind, as does a
commit that fails, and a text that was replaced when the steps that could undo that are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import structlog

from memci.queue.network_jobs import (
    ask_for_active,
    ask_for_due_consolidations,
    ask_for_idle,
    ask_for_one,
    left_active,
)
from memci.queue.sweep import delete_ended_jobs, job_blocks
from memci.storage.page_store.port import PageStore
from memci.storage.pages.texts import agents_after, orphaned_keys
from memci.storage.receipts import (
    agents_with_old_receipts,
    delete_old_receipts,
    note_oldest_receipt,
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


# The sweeper waits while one bite is taken.
_BITE_S = 1.0
_AGENTS_AT_ONCE = 200
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Bite:
    """What was done at once: texts looked at and removed, and where to go on; None: at the end."""

    looked_at: int
    removed: int
    after: str | None


def remove_orphans(
    database: Database, store: PageStore, *, grace_s: float, after: str = ""
) -> Bite:
    """Remove what was saved longer ago and is needed by no page, agent by agent, for a second.

    The agents are those whose ids come after one. ``grace_s`` is longer than any transaction: a
    text that no page names then has none that will yet be committed. Any number may run at once.
    Raises ``PageStoreError``; what was removed by then is removed.
    """
    begun, looked_at, removed, last = monotonic(), 0, 0, after
    with database.upkeep_transaction() as connection:
        agents = agents_after(connection, after, _AGENTS_AT_ONCE)
    for agent_id in agents:
        looked, gone = _remove_of(database, store, agent_id, grace_s)
        looked_at, removed, last = looked_at + looked, removed + gone, agent_id
        if monotonic() - begun > _BITE_S:
            break
    if removed:
        _log.info("texts that no page needs were removed", count=removed, looked_at=looked_at)
    ended = len(agents) < _AGENTS_AT_ONCE and last == (agents[-1] if agents else after)
    return Bite(looked_at, removed, None if ended else last)


def _remove_of(
    database: Database, store: PageStore, agent_id: str, grace_s: float
) -> tuple[int, int]:
    # First what is there, then what is needed: what is needed by then was there before.
    old = list(store.list(agent_id, older_s=grace_s))
    if not old:
        return 0, 0
    with database.agent_snapshot(agent_id) as connection:
        orphans = orphaned_keys(connection, agent_id, old)
    for key in orphans:
        store.delete(key)
    return len(old), len(orphans)
