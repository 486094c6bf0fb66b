"""Periodic duties on contents: removes old receipts, and texts of notes that no page needs.

Such a text is left by a writer that dies between storing it and committing the page, by a commit
that fails, and by a replaced text once no step is left that could undo the replacement.
"""

from dataclasses import dataclass
from time import monotonic

import structlog

from memci.storage import audit, receipts
from memci.storage.events import prune_events
from memci.storage.page_store import named_texts
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database

_log = structlog.get_logger(__name__)

_RECEIPTS_AT_ONCE = 5_000
# An agent is visited when its oldest receipt is so much older than the limit: otherwise each run
# would visit every agent that is read, for a handful of receipts.
_LATE = 1.1
_MAX_AGENTS = 1_000  # the sweep waits while this runs; those with the oldest receipts come first


def prune_receipts(database: Database, *, keep_s: float) -> int:
    """Delete receipts older than ``keep_s``, of agents that have any that are a tenth older still.

    Agent by agent, since upkeep itself sees no content (M21). Returns how many.
    """
    with database.upkeep_transaction() as connection:
        older_s = keep_s * _LATE
        agents = receipts.agents_with_old_receipts(connection, older_s=older_s, most=_MAX_AGENTS)
    removed = 0
    for agent_id in agents:
        count = _RECEIPTS_AT_ONCE
        while count == _RECEIPTS_AT_ONCE:
            with database.agent_transaction(agent_id, durable=False) as connection:
                count = receipts.delete_old_receipts(
                    connection, agent_id, keep_s=keep_s, most=_RECEIPTS_AT_ONCE
                )
            removed += count
        # In a transaction of its own: it locks the lane.
        with database.agent_transaction(agent_id, durable=False) as connection:
            receipts.note_oldest_receipt(connection, agent_id)
    return removed


def prune_audit(database: Database, *, keep_s: float) -> int:
    """Delete what is older than ``keep_s`` from the audit log; return how many rows."""
    with database.upkeep_transaction() as connection:
        return audit.prune_entries(connection, keep_s=keep_s)


def prune_old_events(database: Database, *, keep_s: float) -> None:
    """Delete events older than ``keep_s``, delivered or not."""
    more = True
    while more:
        with database.upkeep_transaction() as connection:
            more = prune_events(connection, keep_s=keep_s)


_BATCH_S = 1.0  # the sweep waits while one batch is removed
_AGENTS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class OrphanBatch:
    """One batch of orphaned texts."""

    looked_at: int
    removed: int
    after: str | None  # the last agent; None: there are no more


def remove_orphans(
    database: Database, store: PageStore, *, grace_s: float, after: str = ""
) -> OrphanBatch:
    """Remove texts that no page needs, of agents after this id, for about a second.

    Only texts stored longer than ``grace_s`` ago, which is longer than any transaction: a page
    that names a younger text may not be committed yet. Several may run at once. Raises
    ``PageStoreError``.
    """
    began, looked_at, removed, last = monotonic(), 0, 0, after
    with database.upkeep_transaction() as connection:
        agents = named_texts.agents_after(connection, after, _AGENTS_AT_ONCE)
    for agent_id in agents:
        # List the stored texts first: a page that needs one of them is then seen.
        old = list(store.list(agent_id, older_s=grace_s))
        if old:
            with database.agent_snapshot(agent_id) as connection:
                orphans = named_texts.orphaned_keys(connection, agent_id, old)
            for key in orphans:
                store.delete(key)
            looked_at, removed = looked_at + len(old), removed + len(orphans)
        last = agent_id
        if monotonic() - began > _BATCH_S:
            break
    if removed:
        _log.info("orphaned texts removed", count=removed, looked_at=looked_at)
    is_last = len(agents) < _AGENTS_AT_ONCE and last == (agents[-1] if agents else after)
    return OrphanBatch(looked_at, removed, None if is_last else last)
