"""Texts in a page store that no page needs any more (P14)."""

from __future__ import annotations

from collections.abc import Collection

from memci.storage.page_store.port import BodyKey
from memci.storage.session import Connection

_AGENTS = "SELECT agent_id FROM lane WHERE agent_id > %s ORDER BY agent_id LIMIT %s"
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
    return list(connection.exec_driver_sql(_AGENTS, (after, most)).scalars())


def orphans_among(
    connection: Connection, agent_id: str, keys: Collection[BodyKey]
) -> list[BodyKey]:
    """Return those of an agent's texts that no page shows and no step can bring back."""
    pages = list({key.page for key in keys})
    rows = connection.exec_driver_sql(_NAMED, {"agent": agent_id, "pages": pages})
    named = {(row.page, row.version) for row in rows}
    return [key for key in keys if (key.page, key.version) not in named]
