"""Documents, their chunks and collections (R9).

Every function takes an owner: an agent's id, or ``collection/NAME``. Writers hold the lock of the
owner's lane, so counters and ids are right with any number of writers.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from sqlalchemy import Connection, insert

from memci.domain.documents import (
    COLLECTION_PREFIX,
    Chunk,
    DocumentState,
    NewDocument,
    collection_owner,
    is_collection,
    last_part,
    searched_text,
    unknown_owner,
)
from memci.schemas.documents import CollectionOut, DocumentOut
from memci.storage.agents import is_there
from memci.storage.schema.documents import chunk as chunk_table
from memci.storage.search.index import Embedded, posting_columns
from memci.storage.search.vectors import to_text

# In batches, since no statement may last for a minute.
_BITE = 500
_BITTEN = "SELECT id FROM chunk WHERE agent_id = %s AND document_id = %s ORDER BY id LIMIT %s"
# Each posting of a chunk stores the chunk's number of terms.
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
    """Delete all chunks of a document; return how many there were."""
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


# If its job is dead, the job has the error; errors of documents were written for people.
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
_FIND_DOCUMENT = f"SELECT {_COLUMNS} {_FROM} WHERE d.agent_id = %s AND d.{{column}} = %s"
_COUNT = """
UPDATE lane SET documents = documents + 1, last_document_id = last_document_id + 1
WHERE agent_id = %s RETURNING last_document_id
"""
# Nobody resumes the lane of a collection: its next job continues after the dead one.
_WRITTEN = """
UPDATE lane SET written_at = now(), stored_bytes = stored_bytes + %(bytes)s - coalesce((
                    SELECT bytes FROM document WHERE agent_id = %(owner)s AND id = %(id)s), 0),
                halted_by = CASE WHEN starts_with(agent_id, 'collection/') THEN NULL
                                 ELSE halted_by END
WHERE agent_id = %(owner)s
"""
_INSERT = """
INSERT INTO document (agent_id, id, name, digest, bytes, job_id) VALUES (%s, %s, %s, %s, %s, %s)
"""
# The old content can be found until the new bytes have been read.
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
_REMOVE_DOCUMENTS = "DELETE FROM document WHERE agent_id = %s AND id = ANY(%s) RETURNING bytes"
_REMOVE_BODY = "DELETE FROM document_body WHERE agent_id = %s AND document_id = ANY(%s)"
_UNCOUNT_DOCUMENTS = """
UPDATE lane SET documents = documents - %s, stored_bytes = stored_bytes - %s WHERE agent_id = %s
"""


def list_documents(
    connection: Connection, owner: str, *, prefix: str, after: int, limit: int
) -> list[DocumentOut]:
    """Return documents whose names begin with ``prefix``, by id, after one id."""
    values = {"owner": owner, "prefix": prefix, "after": after, "limit": limit}
    found = connection.exec_driver_sql(_LIST_DOCUMENTS, values).mappings()
    return [DocumentOut(**row) for row in found]


def find_document(connection: Connection, owner: str, key: int | str) -> DocumentOut | None:
    """Return the document of an id or a name."""
    statement = _FIND_DOCUMENT.format(column="id" if isinstance(key, int) else "name")
    row = connection.exec_driver_sql(statement, (owner, key)).mappings().first()
    return None if row is None else DocumentOut(**row)


def keep_document(
    connection: Connection, owner: str, new: NewDocument, document_id: int | None, job_id: UUID
) -> int:
    """Store a file for the job that reads it, in place of ``document_id``; return its id."""
    values = {"owner": owner, "bytes": len(new.body), "id": document_id}
    connection.exec_driver_sql(_WRITTEN, values)
    if document_id is None:
        document_id = int(connection.exec_driver_sql(_COUNT, (owner,)).scalar_one())
        row = (owner, document_id, new.name, new.digest, len(new.body), job_id)
        connection.exec_driver_sql(_INSERT, row)
    else:
        change = (new.digest, len(new.body), job_id, owner, document_id)
        connection.exec_driver_sql(_REPLACE, change)
    connection.exec_driver_sql(_KEEP_BODY, (owner, document_id, new.body))
    return document_id


def next_named(connection: Connection, owner: str, prefix: str, limit: int) -> Sequence[int]:
    """Return the ids of the first documents whose names begin with ``prefix``."""
    values = {"owner": owner, "prefix": prefix, "limit": limit}
    return connection.exec_driver_sql(_IDS, values).scalars().all()


def remove_documents(connection: Connection, owner: str, ids: Sequence[int]) -> tuple[int, int]:
    """Remove documents for good; return how many there were, and how many chunks."""
    chunks = sum(remove_chunks(connection, owner, each) for each in ids)
    connection.exec_driver_sql(_REMOVE_BODY, (owner, list(ids)))
    sizes = connection.exec_driver_sql(_REMOVE_DOCUMENTS, (owner, list(ids))).scalars().all()
    connection.exec_driver_sql(_UNCOUNT_DOCUMENTS, (len(sizes), sum(sizes), owner))
    return len(sizes), chunks


# Lanes have no content, so all may be read; the caller's key limits which.
_LIST_COLLECTIONS = """
SELECT substr(agent_id, length(%(prefix)s) + 1) AS name, documents, indexed_chunks AS chunks
  FROM lane WHERE starts_with(agent_id, %(prefix)s) AND documents > 0
   AND agent_id > %(prefix)s || %(after)s ORDER BY agent_id
"""
_IS_THERE = "SELECT FROM lane WHERE agent_id = %s AND documents > 0"
_THERE = "SELECT agent_id FROM lane WHERE agent_id = ANY(%s) AND documents > 0"
_SEE = "SELECT set_config('memci.collections', %s, true)"


def list_collections(connection: Connection, *, after: str) -> list[CollectionOut]:
    """Return all collections with a name after ``after``, by name."""
    values = {"prefix": COLLECTION_PREFIX, "after": after}
    found = connection.exec_driver_sql(_LIST_COLLECTIONS, values).mappings()
    return [CollectionOut(**row) for row in found]


def check_owner_there(connection: Connection, owner: str) -> None:
    """Raise ``NotFoundError`` if there is no such agent or collection."""
    exists = is_collection_there if is_collection(owner) else is_there
    if not exists(connection, owner):
        raise unknown_owner(owner)


def is_collection_there(connection: Connection, owner: str) -> bool:
    """Return True if a collection has a document."""
    return connection.exec_driver_sql(_IS_THERE, (owner,)).first() is not None


def see_collections(
    connection: Connection, names: Iterable[str], *, must_be_there: bool = True
) -> list[str]:
    """Make collections readable for the rest of an agent's transaction; return their owners.

    The caller must be allowed to read them. Raises ``InvalidInputError`` for an invalid name, and
    with ``must_be_there`` ``NotFoundError`` for a collection without documents.
    """
    owners = [collection_owner(name) for name in dict.fromkeys(names)]
    if must_be_there:
        existing = set(connection.exec_driver_sql(_THERE, (owners,)).scalars())
        for owner in owners:
            if owner not in existing:
                raise unknown_owner(owner)
    connection.exec_driver_sql(_SEE, (" ".join(owners),))
    return owners


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
_ADD = insert(chunk_table)
_STATE = """
UPDATE document SET state = %s, error = %s, chunks = %s, indexed_chunks = 0
WHERE agent_id = %s AND id = %s
"""
# Bytes that arrived meanwhile have a job of their own.
_NAME_JOB = """
UPDATE document SET job_id = %s WHERE agent_id = %s AND id = %s AND state = 'indexing'
"""
_UNINDEXED = "SELECT id FROM chunk WHERE agent_id = %s AND id = ANY(%s) AND NOT indexed"
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
_COUNT_CHUNKS = """
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
    """A file that has not been read yet."""

    name: str
    digest: str
    body: bytes


def waiting_file(connection: Connection, owner: str, document_id: int) -> WaitingFile | None:
    """Return the bytes of a document; None when they have been read or it was removed."""
    row = connection.exec_driver_sql(_WAITING_FILE, (owner, document_id)).first()
    return None if row is None else WaitingFile(row.name, row.digest, bytes(row.body))


def waiting_chunks(
    connection: Connection, owner: str, document_id: int, limit: int
) -> dict[int, str]:
    """Return the search texts of a document's next chunks without an index, by id."""
    rows = connection.exec_driver_sql(_WAITING_CHUNKS, (owner, document_id, limit))
    return {row.id: searched_text(row.name, row.path, row.text) for row in rows}


def is_waiting(connection: Connection, owner: str, document_id: int, digest: str) -> bool:
    """Return True if a document still waits with these bytes; they may have been replaced."""
    found = connection.exec_driver_sql(_IS_WAITING, (owner, document_id, digest))
    return found.first() is not None


def refuse(connection: Connection, owner: str, document_id: int, error: str) -> None:
    """Store why a document cannot be read, and delete the chunks of its earlier content."""
    remove_chunks(connection, owner, document_id)
    connection.exec_driver_sql(_FORGET_BODY, (owner, document_id))
    values = (DocumentState.FAILED, error, 0, owner, document_id)
    connection.exec_driver_sql(_STATE, values)


def replace_chunks(
    connection: Connection, owner: str, document_id: int, chunks: Sequence[Chunk]
) -> list[int]:
    """Replace the chunks of a document; return the new ids."""
    remove_chunks(connection, owner, document_id)
    connection.exec_driver_sql(_FORGET_BODY, (owner, document_id))
    last = int(connection.exec_driver_sql(_GIVE_IDS, (len(chunks), owner)).scalar_one())
    first = last - len(chunks) + 1
    rows = [
        {
            **asdict(each),
            "agent_id": owner,
            "id": first + place,
            "document_id": document_id,
            "place": place,
            "path": each.shown_path,
            "symbol_key": None if each.symbol is None else last_part(each.symbol),
        }
        for place, each in enumerate(chunks)
    ]
    if rows:
        connection.execute(_ADD, rows)
    values = (DocumentState.INDEXING, None, len(chunks), owner, document_id)
    connection.exec_driver_sql(_STATE, values)
    return list(range(first, last + 1))


def index_chunks(
    connection: Connection,
    owner: str,
    document_id: int,
    embedded: Embedded,
    terms: Mapping[int, Counter[str]],
) -> int | None:
    """Index chunks that are not indexed yet; return how many are left, None without a document."""
    keys = list(embedded.keys)
    unindexed = set(connection.exec_driver_sql(_UNINDEXED, (owner, keys)).scalars())
    rows = [row for row, key in enumerate(keys) if key in unindexed]
    if rows:
        chunk_ids = [keys[row] for row in rows]
        vectors = to_text(embedded.vectors[rows])
        connection.exec_driver_sql(_ADD_VECTORS, (owner, embedded.model, chunk_ids, vectors))
        counted = {key: terms[key] for key in chunk_ids}
        connection.exec_driver_sql(_ADD_TERMS, (owner, *posting_columns(counted)))
        connection.exec_driver_sql(_MARK, (owner, chunk_ids))
        lengths = [each.total() for each in counted.values() if each]
        connection.exec_driver_sql(_COUNT_CHUNKS, (len(lengths), sum(lengths), owner))
    values = {"owner": owner, "document": document_id, "count": len(rows)}
    left = connection.exec_driver_sql(_PROGRESS, values).scalar()
    return None if left is None else int(left)


def name_job(connection: Connection, owner: str, document_id: int, job_id: UUID) -> None:
    """Store the job that continues a document, so that a dead job shows at the document."""
    connection.exec_driver_sql(_NAME_JOB, (job_id, owner, document_id))
