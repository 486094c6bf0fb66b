"""On which pages messages are, and by which ids others know them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection

from memci.storage.session import rows

# The page of a session, or of no session, that ends first behind the message.
_PLACES = """
SELECT m.seq, m.id, place.page FROM message m LEFT JOIN LATERAL (
    (SELECT p.id AS page FROM page p
     WHERE p.agent_id = m.agent_id AND p.first_seq IS NOT NULL AND p.session_id = m.session_id
       AND p.last_seq >= m.seq AND p.first_seq <= m.seq AND (p.number = 0) = (m.role = 'system')
     ORDER BY p.last_seq LIMIT 1)
    UNION ALL
    (SELECT p.id FROM page p
     WHERE m.session_id IS NULL AND p.agent_id = m.agent_id AND p.first_seq IS NOT NULL
       AND p.session_id IS NULL
       AND p.last_seq >= m.seq AND p.first_seq <= m.seq AND (p.number = 0) = (m.role = 'system')
     ORDER BY p.last_seq LIMIT 1)) AS place ON true
WHERE m.agent_id = %s AND m.seq = ANY(%s::bigint[])
"""


class Place(NamedTuple):
    """A message's id, and the index of the page that it is on; None: on none yet (P6)."""

    message_id: str
    page: str | None


def places_of(connection: Connection, agent_id: str, seqs: Collection[int]) -> dict[int, Place]:
    """Return the places of those of these messages that are stored."""
    if not seqs:
        return {}
    found = rows(connection, _PLACES, (agent_id, sorted(seqs)))
    return {row.seq: Place(row.id, row.page) for row in found}
