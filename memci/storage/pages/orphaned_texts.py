"""Texts in a page store that no page needs any more (P14).

Which texts pages refer to, over all agents (P14).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memci.storage.page_store.port import BodyKey
from memci.storage.session import Connection, Database

_AGENTS_AFTER = "SELECT agent_id FROM lane WHERE agent_id > %s ORDER BY agent_id LIMIT %s"
# What pages show, and what they would show were a step undone or done again.
_NAMED = """
SELECT id AS page, body AS version FROM page
WHERE agent_id = %(agent)s AND id = ANY(%(pages)s::text[]) AND body IS NOT NULL
UNION
SELECT edit.value->>'index', (side.value->>'body')::bigint
FROM page_step, jsonb_array_elements(changes) AS edit,
     LATERAL (VALUES (edit.value->'was'), (edit.value->'became')) AS side (value)
WHERE agent_id = %(agent)s AND side.value->>'body' IS NOT NULL
"""


def agents_after(connection: Connection, after: str, most: int) -> list[str]:
    """Return agents by id, those of which everything was erased with them."""
    return list(connection.exec_driver_sql(_AGENTS_AFTER, (after, most)).scalars())


def orphans_among(
    connection: Connection, agent_id: str, keys: Collection[BodyKey]
) -> list[BodyKey]:
    """Return those of an agent's texts that no page shows and no step can bring back."""
    pages = list({key.page for key in keys})
    rows = connection.exec_driver_sql(_NAMED, {"agent": agent_id, "pages": pages})
    named = {(row.page, row.version) for row in rows}
    return [key for key in keys if (key.page, key.version) not in named]


_AGENTS_WITH_PAGES = 500
_NOTES = """
SELECT id, body FROM page WHERE agent_id = %s AND body IS NOT NULL ORDER BY place DESC LIMIT %s
"""


def all_agents(database: Database) -> Iterator[str]:
    """Yield all agents that there are or were, by id."""
    after, bite = "", [""]
    while bite:
        with database.upkeep_transaction() as connection:
            bite = agents_after(connection, after, _AGENTS_WITH_PAGES)
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
