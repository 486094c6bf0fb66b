"""Removes texts of notes that no page needs any more (P14).

A writer that dies between storing a text and committing the page leaves one behind, as does a
commit that fails, and a text that was replaced when the steps that could undo that are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import structlog

from memci.storage.page_orphans import agents_after, orphans_among
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database

# The sweeper waits while one bite is taken.
_BITE_S = 1.0
_AGENTS = 200
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
        agents = agents_after(connection, after, _AGENTS)
    for agent_id in agents:
        looked, gone = _remove_of(database, store, agent_id, grace_s)
        looked_at, removed, last = looked_at + looked, removed + gone, agent_id
        if monotonic() - begun > _BITE_S:
            break
    if removed:
        _log.info("texts that no page needs were removed", count=removed, looked_at=looked_at)
    ended = len(agents) < _AGENTS and last == (agents[-1] if agents else after)
    return Bite(looked_at, removed, None if ended else last)


def _remove_of(
    database: Database, store: PageStore, agent_id: str, grace_s: float
) -> tuple[int, int]:
    # First what is there, then what is needed: what is needed by then was there before.
    old = list(store.list(agent_id, older_s=grace_s))
    if not old:
        return 0, 0
    with database.agent_snapshot(agent_id) as connection:
        orphans = orphans_among(connection, agent_id, old)
    for key in orphans:
        store.delete(key)
    return len(old), len(orphans)
