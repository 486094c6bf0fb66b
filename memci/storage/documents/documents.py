"""Stores, lists and removes documents and collections (R9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

from memci.domain.documents import (
    COLLECTION_PREFIX,
    DocumentState,
    NewDocument,
    collection_owner,
    nobody,
)

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


# Its job may be dead, of which the job tells, and what it says was written for people.
_COLUMNS = """
d.id, d.name, d.digest, d.bytes, CASE WHEN j.state = 'dead' THEN 'failed' ELSE d.state END AS state,
CASE WHEN j.state = 'dead' THEN j.last_error ELSE d.error END AS error, d.chunks, d.indexed_chunks,
d.job_id, d.created_at, d.sent_at, d.indexed_at
"""
_FROM = """
FROM document d LEFT JOIN job j
  ON j.agent_id = d.agent_id AND j.id = d.job_id AND d.state IN ('queued', 'indexing')
"""
_LIST_DOCUMENTS = f"""
SELECT {_COLUMNS} {_FROM}
 WHERE d.agent_id = %(owner)s AND d.id > %(after)s AND starts_with(d.name, %(prefix)s)
 ORDER BY d.id LIMIT %(limit)s
"""
_BY_ID = f"SELECT {_COLUMNS} {_FROM} WHERE d.agent_id = %s AND d.id = %s"
_BY_NAME = f"SELECT {_COLUMNS} {_FROM} WHERE d.agent_id = %s AND d.name = %s"
_COUNT = """
UPDATE lane SET documents = documents + 1, last_document_id = last_document_id + 1
WHERE agent_id = %s RETURNING last_document_id
"""
# Nobody resumes the lane of a collection: what comes next goes on without the dead job.
_WRITTEN = """
UPDATE lane SET written_at = now(),
                halted_by = CASE WHEN starts_with(agent_id, 'collection/') THEN NULL
                                 ELSE halted_by END
WHERE agent_id = %s
"""
_INSERT = """
INSERT INTO document (agent_id, id, name, digest, bytes, job_id) VALUES (%s, %s, %s, %s, %s, %s)
"""
# What could be found of it before is found until the new bytes have been read.
_REPLACE = """
UPDATE document SET digest = %s, bytes = %s, job_id = %s, state = 'queued', error = NULL,
                    sent_at = now(), indexed_at = NULL
WHERE agent_id = %s AND id = %s
"""
_KEEP_BODY = """
INSERT INTO document_body (agent_id, document_id, body) VALUES (%s, %s, %s)
ON CONFLICT (agent_id, document_id) DO UPDATE SET body = excluded.body, created_at = now()
"""
_IDS = """
SELECT id FROM document WHERE agent_id = %(owner)s AND starts_with(name, %(prefix)s)
   ORDER BY id LIMIT %(limit)s
"""
_REMOVE_DOCUMENTS = "DELETE FROM document WHERE agent_id = %s AND id = ANY(%s)"
_REMOVE_BODY = "DELETE FROM document_body WHERE agent_id = %s AND document_id = ANY(%s)"
_UNCOUNT_DOCUMENTS = "UPDATE lane SET documents = documents - %s WHERE agent_id = %s"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One document: how far it is, and how many of its chunks can be found."""

    id: int
    name: str
    digest: str
    bytes: int
    state: DocumentState
    error: str | None
    chunks: int
    indexed_chunks: int
    job_id: UUID
    created_at: datetime
    sent_at: datetime
    indexed_at: datetime | None


def list_documents(
    connection: Connection, owner: str, *, prefix: str, after: int, limit: int
) -> list[StoredDocument]:
    """Return documents whose names begin so, by id, after one id."""
    values = {"owner": owner, "prefix": prefix, "after": after, "limit": limit}
    return [
        _document(row) for row in connection.exec_driver_sql(_LIST_DOCUMENTS, values).mappings()
    ]


def document_by_id(connection: Connection, owner: str, document_id: int) -> StoredDocument | None:
    """Return one document."""
    row = connection.exec_driver_sql(_BY_ID, (owner, document_id)).mappings().first()
    return None if row is None else _document(row)


def document_by_name(connection: Connection, owner: str, name: str) -> StoredDocument | None:
    """Return the document of a name."""
    row = connection.exec_driver_sql(_BY_NAME, (owner, name)).mappings().first()
    return None if row is None else _document(row)


def keep_document(
    connection: Connection, owner: str, new: NewDocument, held: int | None, job_id: UUID
) -> int:
    """Store a file for the job that is to read it, in place of document ``held``; return its id."""
    if held is None:
        held = int(connection.exec_driver_sql(_COUNT, (owner,)).scalar_one())
        row = (owner, held, new.name, new.digest, len(new.body), job_id)
        connection.exec_driver_sql(_INSERT, row)
    else:
        change = (new.digest, len(new.body), job_id, owner, held)
        connection.exec_driver_sql(_REPLACE, change)
    connection.exec_driver_sql(_WRITTEN, (owner,))
    connection.exec_driver_sql(_KEEP_BODY, (owner, held, new.body))
    return held


def next_named(connection: Connection, owner: str, prefix: str, limit: int) -> Sequence[int]:
    """Return the ids of the first documents whose names begin so."""
    values = {"owner": owner, "prefix": prefix, "limit": limit}
    return connection.exec_driver_sql(_IDS, values).scalars().all()


def remove_documents(connection: Connection, owner: str, ids: Sequence[int]) -> tuple[int, int]:
    """Remove documents for good; return how many there were, and how many chunks."""
    chunks = sum(remove_chunks(connection, owner, each) for each in ids)
    connection.exec_driver_sql(_REMOVE_BODY, (owner, list(ids)))
    removed = connection.exec_driver_sql(_REMOVE_DOCUMENTS, (owner, list(ids))).rowcount
    connection.exec_driver_sql(_UNCOUNT_DOCUMENTS, (removed, owner))
    return removed, chunks


def _document(row: RowMapping) -> StoredDocument:
    return StoredDocument(**{**row, "state": DocumentState(row["state"])})


# Lanes hold no content: anybody may look at them, and the caller's key says at which.
_LIST_COLLECTIONS = """
SELECT substr(agent_id, length(%(prefix)s) + 1) AS name, documents, indexed_chunks AS chunks
  FROM lane WHERE starts_with(agent_id, %(prefix)s) AND documents > 0
   AND agent_id > %(prefix)s || %(after)s ORDER BY agent_id
"""
_IS_THERE = "SELECT FROM lane WHERE agent_id = %s AND documents > 0"
_THERE = "SELECT agent_id FROM lane WHERE agent_id = ANY(%s) AND documents > 0"
_SEE = "SELECT set_config('memci.collections', %s, true)"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection, its documents, and the chunks that can be found."""

    name: str
    documents: int
    chunks: int


def list_collections(connection: Connection, *, after: str) -> list[Collection]:
    """Return collections after one name, by name; there are few."""
    values = {"prefix": COLLECTION_PREFIX, "after": after}
    return [Collection(*row) for row in connection.exec_driver_sql(_LIST_COLLECTIONS, values)]


def is_collection_there(connection: Connection, owner: str) -> bool:
    """Tell whether a collection has a document."""
    return connection.exec_driver_sql(_IS_THERE, (owner,)).first() is not None


def see_collections(
    connection: Connection, names: Iterable[str], *, must_be_there: bool = True
) -> list[str]:
    """Let the rest of a transaction read these collections beside its agent; return their owners.

    Whoever asked must be allowed to read them. Raises ``InvalidInputError`` for no name of one. One
    that ``must_be_there`` and has no document is more likely a slip than a wish: ``NotFoundError``.
    """
    owners = [collection_owner(name) for name in dict.fromkeys(names)]
    if must_be_there:
        there = set(connection.exec_driver_sql(_THERE, (owners,)).scalars())
        for owner in owners:
            if owner not in there:
                raise nobody(owner)
    connection.exec_driver_sql(_SEE, (" ".join(owners),))
    return owners
