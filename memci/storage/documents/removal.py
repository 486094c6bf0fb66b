"""Chunks go, with what finds them, and are counted no more."""

from __future__ import annotations

from sqlalchemy import Connection

# In bites, since no statement may last for a minute.
_BITE = 500
_BITTEN = "SELECT id FROM chunk WHERE agent_id = %s AND document_id = %s ORDER BY id LIMIT %s"
# A chunk's postings all say how many terms it has.
_UNCOUNT = """
UPDATE lane SET indexed_chunks = indexed_chunks - texts.chunks,
                chunk_terms = chunk_terms - texts.terms
FROM (SELECT count(*) AS chunks, coalesce(sum(length), 0) AS terms
        FROM (SELECT DISTINCT chunk_id, length FROM chunk_term
               WHERE agent_id = %(owner)s AND chunk_id = ANY(%(chunks)s::bigint[])) AS each
     ) AS texts
WHERE agent_id = %(owner)s AND texts.chunks > 0
"""
_REMOVE = (
    "DELETE FROM chunk_term WHERE agent_id = %(owner)s AND chunk_id = ANY(%(chunks)s::bigint[])",
    "DELETE FROM chunk_vector WHERE agent_id = %(owner)s AND chunk_id = ANY(%(chunks)s::bigint[])",
    "DELETE FROM chunk WHERE agent_id = %(owner)s AND id = ANY(%(chunks)s::bigint[])",
)


def remove_chunks(connection: Connection, owner: str, document_id: int) -> int:
    """Remove all chunks of a document; return how many there were."""
    removed = 0
    while True:
        found = connection.exec_driver_sql(_BITTEN, (owner, document_id, _BITE)).scalars().all()
        if not found:
            return removed
        values = {"owner": owner, "chunks": list(found)}
        connection.exec_driver_sql(_UNCOUNT, values)
        for statement in _REMOVE:
            connection.exec_driver_sql(statement, values)
        removed += len(found)
