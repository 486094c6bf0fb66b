"""What the job that indexes a document reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

from memci.domain.documents import Chunk, DocumentState, last_part, searched_text
from memci.storage.documents.documents import remove_chunks
from memci.storage.search_index import Embedded, Terms, posting_columns
from memci.storage.vectors import to_text

_WAITING_FILE = """
SELECT d.name, d.digest, b.body FROM document d
  JOIN document_body b ON b.agent_id = d.agent_id AND b.document_id = d.id
 WHERE d.agent_id = %s AND d.id = %s
"""
_WAITING_CHUNKS = """
SELECT c.id, d.name, c.path, c.text FROM chunk c
  JOIN document d ON d.agent_id = c.agent_id AND d.id = c.document_id
 WHERE c.agent_id = %s AND c.document_id = %s AND NOT c.indexed ORDER BY c.id LIMIT %s
"""
_IS_WAITING = """
SELECT FROM document d JOIN document_body b ON b.agent_id = d.agent_id AND b.document_id = d.id
 WHERE d.agent_id = %s AND d.id = %s AND d.digest = %s
"""
_FORGET_BODY = "DELETE FROM document_body WHERE agent_id = %s AND document_id = %s"
_GIVE_IDS = """
UPDATE lane SET last_chunk_id = last_chunk_id + %s WHERE agent_id = %s RETURNING last_chunk_id
"""
_ADD = """
INSERT INTO chunk (agent_id, id, document_id, place, kind, text, path, symbol, symbol_key, language,
                   first_line, last_line, page)
SELECT %s, %s + place, %s, place, kind, text, path, symbol, symbol_key, language, first_line,
       last_line, page
FROM unnest(%s::integer[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[],
            %s::integer[], %s::integer[], %s::integer[])
     AS new(place, kind, text, path, symbol, symbol_key, language, first_line, last_line, page)
"""
# Chunks in one statement.
_AT_ONCE = 1_000
_STATE = """
UPDATE document SET state = %s, error = %s, chunks = %s, indexed_chunks = 0
WHERE agent_id = %s AND id = %s
"""
# Bytes that came meanwhile have a job of their own.
_NAME_JOB = """
UPDATE document SET job_id = %s WHERE agent_id = %s AND id = %s AND state = 'indexing'
"""
_STILL = "SELECT id FROM chunk WHERE agent_id = %s AND id = ANY(%s) AND NOT indexed"
_ADD_VECTORS = """
INSERT INTO chunk_vector (agent_id, chunk_id, embedding, model)
SELECT %s, chunk_id, embedding::halfvec, %s
FROM unnest(%s::bigint[], %s::text[]) AS new(chunk_id, embedding)
"""
_ADD_TERMS = """
INSERT INTO chunk_term (agent_id, term, chunk_id, tf, length)
SELECT %s, * FROM unnest(%s::text[], %s::bigint[], %s::integer[], %s::integer[])
"""
_MARK = "UPDATE chunk SET indexed = true WHERE agent_id = %s AND id = ANY(%s)"
_COUNT = """
UPDATE lane SET indexed_chunks = indexed_chunks + %s, chunk_terms = chunk_terms + %s
WHERE agent_id = %s
"""
_PROGRESS = """
UPDATE document SET indexed_chunks = indexed_chunks + %(count)s,
    state = CASE WHEN state = 'indexing' AND indexed_chunks + %(count)s >= chunks THEN 'ready'
                 ELSE state END,
    indexed_at = CASE WHEN state = 'indexing' AND indexed_chunks + %(count)s >= chunks THEN now()
                      ELSE indexed_at END
WHERE agent_id = %(owner)s AND id = %(document)s RETURNING chunks - indexed_chunks
"""


@dataclass(frozen=True, slots=True)
class WaitingFile:
    """A file that nobody has read yet."""

    name: str
    digest: str
    body: bytes


def waiting_file(connection: Connection, owner: str, document_id: int) -> WaitingFile | None:
    """Return the bytes of a document; None when they have been read, or it is gone."""
    row = connection.exec_driver_sql(_WAITING_FILE, (owner, document_id)).first()
    return None if row is None else WaitingFile(row.name, row.digest, bytes(row.body))


def waiting_chunks(
    connection: Connection, owner: str, document_id: int, limit: int
) -> dict[int, str]:
    """Return what is searched of the next chunks of a document that cannot be found yet, by id."""
    rows = connection.exec_driver_sql(_WAITING_CHUNKS, (owner, document_id, limit))
    return {row.id: searched_text(row.name, row.path, row.text) for row in rows}


def is_waiting(connection: Connection, owner: str, document_id: int, digest: str) -> bool:
    """Tell whether a document still waits with these bytes: others may have come since."""
    found = connection.exec_driver_sql(_IS_WAITING, (owner, document_id, digest))
    return found.first() is not None


def refuse(connection: Connection, owner: str, document_id: int, error: str) -> None:
    """Say why a document cannot be read; what was found of earlier bytes is found no more."""
    remove_chunks(connection, owner, document_id)
    connection.exec_driver_sql(_FORGET_BODY, (owner, document_id))
    values = (DocumentState.FAILED, error, 0, owner, document_id)
    connection.exec_driver_sql(_STATE, values)


def replace_chunks(
    connection: Connection, owner: str, document_id: int, chunks: Sequence[Chunk]
) -> list[int]:
    """Put chunks in the place of those that a document has, and return their ids."""
    remove_chunks(connection, owner, document_id)
    connection.exec_driver_sql(_FORGET_BODY, (owner, document_id))
    last = int(connection.exec_driver_sql(_GIVE_IDS, (len(chunks), owner)).scalar_one())
    first = last - len(chunks) + 1
    for start in range(0, len(chunks), _AT_ONCE):
        some = list(enumerate(chunks))[start : start + _AT_ONCE]
        connection.exec_driver_sql(_ADD, (owner, first, document_id, *_columns(some)))
    values = (DocumentState.INDEXING, None, len(chunks), owner, document_id)
    connection.exec_driver_sql(_STATE, values)
    return list(range(first, last + 1))


def index_chunks(
    connection: Connection,
    owner: str,
    document_id: int,
    embedded: Embedded,
    terms: Mapping[int, Terms],
) -> int | None:
    """Let those of the chunks be found that wait for it still; return how many are left to do.

    None when the document is gone.
    """
    keys = list(embedded.keys)
    still = set(connection.exec_driver_sql(_STILL, (owner, keys)).scalars())
    rows = [row for row, key in enumerate(keys) if key in still]
    if rows:
        kept = [keys[row] for row in rows]
        vectors = to_text(embedded.vectors[rows])
        connection.exec_driver_sql(_ADD_VECTORS, (owner, embedded.model, kept, vectors))
        counted = {key: terms[key] for key in kept}
        connection.exec_driver_sql(_ADD_TERMS, (owner, *posting_columns(counted)))
        connection.exec_driver_sql(_MARK, (owner, kept))
        lengths = [each.length for each in counted.values() if each.length]
        connection.exec_driver_sql(_COUNT, (len(lengths), sum(lengths), owner))
    values = {"owner": owner, "document": document_id, "count": len(rows)}
    left = connection.exec_driver_sql(_PROGRESS, values).scalar()
    return None if left is None else int(left)


def name_job(connection: Connection, owner: str, document_id: int, job_id: UUID) -> None:
    """Say which job goes on with a document: should it die, the document tells."""
    connection.exec_driver_sql(_NAME_JOB, (job_id, owner, document_id))


def _columns(chunks: Sequence[tuple[int, Chunk]]) -> tuple[list[object], ...]:
    return (
        [place for place, _ in chunks],
        [each.kind.value for _, each in chunks],
        [each.text for _, each in chunks],
        [each.shown_path for _, each in chunks],
        [each.symbol for _, each in chunks],
        [None if each.symbol is None else last_part(each.symbol) for _, each in chunks],
        [each.language for _, each in chunks],
        [each.first_line for _, each in chunks],
        [each.last_line for _, each in chunks],
        [each.page for _, each in chunks],
    )
