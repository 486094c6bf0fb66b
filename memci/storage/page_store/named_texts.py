"""Which texts the notes of agents name: to find orphaned texts, and missing ones (P14)."""

from collections.abc import Collection, Iterator

from memci.storage.page_store.port import TextKey
from memci.storage.session import Connection, Database

_AGENTS_AT_ONCE = 500
_AGENTS_AFTER = "SELECT agent_id FROM lane WHERE agent_id > %s ORDER BY agent_id LIMIT %s"
# Texts of pages, and those that undo or redo could bring back.
_NAMED = """
SELECT id AS page, text_version AS version FROM page
WHERE agent_id = %(agent)s AND id = ANY(%(pages)s::text[]) AND text_version IS NOT NULL
UNION
SELECT edit.value->>'index', (side.value->>'text_version')::bigint
FROM page_step, jsonb_array_elements(changes) AS edit,
     LATERAL (VALUES (edit.value->'was'), (edit.value->'became')) AS side (value)
WHERE agent_id = %(agent)s AND side.value->>'text_version' IS NOT NULL
"""
_NOTES = """
SELECT id, text_version FROM page WHERE agent_id = %s AND text_version IS NOT NULL
ORDER BY place DESC LIMIT %s
"""


def agents_after(connection: Connection, after: str, most: int) -> list[str]:
    """Return the ids of agents after an id, erased ones included."""
    return list(connection.exec_driver_sql(_AGENTS_AFTER, (after, most)).scalars())


def orphaned_keys(
    connection: Connection, agent_id: str, keys: Collection[TextKey]
) -> list[TextKey]:
    """Return the keys of texts that no page has and no undo or redo can bring back."""
    pages = list({key.page for key in keys})
    rows = connection.exec_driver_sql(_NAMED, {"agent": agent_id, "pages": pages})
    named = {(row.page, row.version) for row in rows}
    return [key for key in keys if (key.page, key.version) not in named]


def all_agents(database: Database) -> Iterator[str]:
    """Yield the ids of all agents, erased ones included."""
    agents = [""]
    while agents:
        with database.upkeep_transaction() as connection:
            agents = agents_after(connection, agents[-1], _AGENTS_AT_ONCE)
        yield from agents


def has_notes(database: Database) -> bool:
    """Return True if any agent has a note with a text."""
    return any(notes_of(database, agent_id, 1) for agent_id in all_agents(database))


def notes_of(database: Database, agent_id: str, most: int) -> list[TextKey]:
    """Return the text keys of an agent's newest notes, at most ``most``."""
    with database.agent_snapshot(agent_id) as connection:
        return note_keys(connection, agent_id, most)


def note_keys(connection: Connection, agent_id: str, most: int | None = None) -> list[TextKey]:
    """Return the text keys of an agent's notes, the newest first; None: of all."""
    rows = connection.exec_driver_sql(_NOTES, (agent_id, most))
    return [TextKey(agent_id, row.id, row.text_version) for row in rows]
