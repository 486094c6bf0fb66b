"""Documents as they come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

from memci.domain.documents.document import DocumentState, NewDocument
from memci.storage.documents.removal import remove_chunks

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
_LIST = f"""
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
_REMOVE = "DELETE FROM document WHERE agent_id = %s AND id = ANY(%s)"
_REMOVE_BODY = "DELETE FROM document_body WHERE agent_id = %s AND document_id = ANY(%s)"
_UNCOUNT = "UPDATE lane SET documents = documents - %s WHERE agent_id = %s"


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
    return [_document(row) for row in connection.exec_driver_sql(_LIST, values).mappings()]


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
    removed = connection.exec_driver_sql(_REMOVE, (owner, list(ids))).rowcount
    connection.exec_driver_sql(_UNCOUNT, (removed, owner))
    return removed, chunks


def _document(row: RowMapping) -> StoredDocument:
    return StoredDocument(**{**row, "state": DocumentState(row["state"])})
