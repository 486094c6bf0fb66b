"""Which texts pages refer to, over all agents (P14)."""

from __future__ import annotations

from collections.abc import Iterator

from memci.storage.page_orphans import agents_after
from memci.storage.page_store.port import BodyKey
from memci.storage.session import Database

_AGENTS = 500
_NOTES = """
SELECT id, body FROM page WHERE agent_id = %s AND body IS NOT NULL ORDER BY place DESC LIMIT %s
"""


def all_agents(database: Database) -> Iterator[str]:
    """Yield all agents that there are or were, by id."""
    after, bite = "", [""]
    while bite:
        with database.upkeep_transaction() as connection:
            bite = agents_after(connection, after, _AGENTS)
        yield from bite
        after = bite[-1] if bite else after


def has_notes(database: Database) -> bool:
    """Tell whether a page of any agent has a text of its own."""
    return any(notes_of(database, agent_id, 1) for agent_id in all_agents(database))


def notes_of(database: Database, agent_id: str, most: int) -> list[BodyKey]:
    """Return where the texts of an agent's newest notes are, at most so many."""
    with database.agent_snapshot(agent_id) as connection:
        rows = connection.exec_driver_sql(_NOTES, (agent_id, most)).all()
    return [BodyKey(agent_id, row.id, row.body) for row in rows]
