"""Inserts an archive's rows inside one transaction with the lane locked."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table
from sqlalchemy.exc import DataError, IntegrityError, OperationalError, ProgrammingError

from memci.errors import ConflictError, ErasedError, InvalidInputError, PageStoreError
from memci.storage.archive.consistency import MODELS_OF_VECTORS, check_consistency, check_law
from memci.storage.archive.export import EXPORTED_TABLES, exported_columns, file_of
from memci.storage.archive.reading import OpenArchive
from memci.storage.erasure.erase import erased_among, lock_for_erasure
from memci.storage.key_usage import MESSAGE_BYTES
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.schema import messages, pages, work
from memci.storage.search.vectors import to_text

# A row of an archive: its line, and the values in it, which were checked.
_Row = tuple[bytes, dict[str, Any]]
# Limits of one statement: rows, and bytes unless a single row is longer.
_MOST_ROWS = 500
_MOST_BYTES = 1024 * 1024
# Rows that an agent without content may have, apart from those that outlive an erasure: settings,
# and texts that no page refers to.
_HOLDS_NOTHING = {"agent_setting": "true", "page_text": "true"}
# Fences off a worker of the lane, which had nothing to do.
_FENCE_OFF = """
UPDATE lane SET fence = fence + 1, lease_owner = NULL, lease_until = NULL WHERE agent_id = %s
"""
# Ids and seqs of an agent that was erased here are not reused either.
_NEVER_LESS = frozenset({"message_seq", "last_node_id", "last_document_id", "last_chunk_id"})
_COUNT_ERASED = f"""
UPDATE lane SET written_at = coalesce(written_at, now()), erased_messages = message_seq - messages,
                stored_bytes = size
  FROM (SELECT count(*) AS messages, coalesce(sum({MESSAGE_BYTES}), 0)
               + (SELECT coalesce(sum(bytes), 0) FROM document WHERE agent_id = %(agent)s) AS size
          FROM message WHERE agent_id = %(agent)s) AS held
WHERE agent_id = %(agent)s
"""  # noqa: S608 - a constant of another module
_OTHER_MODELS = f"""
SELECT EXISTS (
    SELECT FROM ({MODELS_OF_VECTORS}) AS made
    WHERE NOT EXISTS (SELECT FROM vector_model AS held
                      WHERE (held.model, held.dimension) = (made.model, made.dimension)))
"""  # noqa: S608 - a constant of another module
# The offset of a time that is written as text.
_OFFSET = """
CASE WHEN line.row->>'said_at' ~ '[+-][0-9]{2}:[0-9]{2}$'
     THEN nullif((extract(epoch FROM right(line.row->>'said_at', 6)::interval) / 60)::smallint, 0)
END
"""
# Rows of an agent without content that are replaced: its settings, and the lock of its pages.
_REPLACED = (work.agent_setting, pages.page_tree)
# SQLSTATE of an upsert with the same row twice, and the class of exceeded program limits.
_TWICE = "21000"
_OVER_LIMITS = "54"
_FIND_NOTE = "SELECT FROM page WHERE agent_id = %s AND id = %s AND text_version = %s"
_NOTE_WITHOUT_TEXT = """
SELECT id FROM page WHERE agent_id = %s AND text_version IS NOT NULL AND NOT id = ANY(%s::text[])
ORDER BY id LIMIT 1
"""


def lock_empty_agent(connection: Connection, agent_id: str) -> None:
    """Lock the agent against other writers; ``ConflictError`` if it has rows already."""
    lock_for_erasure(connection, agent_id)
    for table in EXPORTED_TABLES:
        allowed = table.info.get("outlives") or _HOLDS_NOTHING.get(table.name, "false")
        query = f"SELECT FROM {table.name} WHERE agent_id = %s AND NOT ({allowed}) LIMIT 1"
        if connection.exec_driver_sql(query, (agent_id,)).first() is not None:
            raise ConflictError(
                f"agent {agent_id} is there already, and holds something: import under another "
                "id, or erase that agent first"
            )
    connection.exec_driver_sql(_FENCE_OFF, (agent_id,))


def insert_archive(connection: Connection, agent_id: str, archive: OpenArchive) -> dict[str, int]:
    """Insert all rows except texts of notes (``save_note_texts``); return the counts by table.

    Raises ``InvalidInputError`` with the place of the error in the archive, and ``ErasedError``
    when a message in it was erased from this agent for good.
    """
    erased = 0
    for table in EXPORTED_TABLES:
        if table is pages.page_text:
            continue
        if table is work.lane:
            _update_lane(connection, agent_id, archive)
            continue
        for batch in _batches(archive.rows(table)):
            if table is messages.message:
                # The database would refuse erased messages, too, but not return their number.
                erased += len(erased_among(connection, agent_id, [row["id"] for _, row in batch]))
            if not erased:
                _insert(connection, agent_id, table, batch)
        if erased:
            raise ErasedError(
                f"{erased} of the archive's messages were erased for good from agent {agent_id}: "
                "erase them where the archive comes from, and export again"
            )
    check_consistency(connection, agent_id)
    connection.exec_driver_sql(_COUNT_ERASED, {"agent": agent_id})
    return {name: file.rows for name, file in archive.manifest.tables.items() if file.rows}


def has_other_vectors(connection: Connection, agent_id: str) -> bool:
    """Return True if the agent has vectors of an embedder that is not the one in use."""
    return bool(connection.exec_driver_sql(_OTHER_MODELS, {"agent": agent_id}).scalar_one())


def count_queued_jobs(connection: Connection, agent_id: str) -> int:
    """Count the queued jobs."""
    statement = "SELECT count(*) FROM job WHERE agent_id = %s AND state = 'queued'"
    return int(connection.exec_driver_sql(statement, (agent_id,)).scalar_one())


def save_note_texts(
    connection: Connection, store: PageStore, agent_id: str, archive: OpenArchive
) -> None:
    """Save the texts of an archive's notes in the store that is used here (P14).

    All other rows must be in place, and nothing but COMMIT may follow: should that fail, the store
    is left with texts that no page refers to. Raises ``InvalidInputError`` for a note without its
    text or a text without its note, and ``PageStoreError``; no text is left then.
    """
    saved: dict[str, TextKey] = {}
    try:
        for _, row in archive.rows(pages.page_text):
            key = TextKey(agent_id, row["page_id"], row["version"])
            found = connection.exec_driver_sql(_FIND_NOTE, (agent_id, key.page, key.version))
            is_new = found.first() is not None and key.page not in saved
            check_law("every text is of one note, in its version", None if is_new else key.page)
            saved[key.page] = key
            store.save(key, row["text"])
        without = connection.exec_driver_sql(_NOTE_WITHOUT_TEXT, (agent_id, list(saved))).scalar()
        check_law("every note has its text", without)
    except BaseException:
        for key in saved.values():
            # Upkeep removes texts that could not be deleted: no page refers to them.
            with suppress(PageStoreError):
                store.delete(key)
        raise


def _update_lane(connection: Connection, agent_id: str, archive: OpenArchive) -> None:
    lines = [line for line, _ in archive.rows(work.lane)]
    if len(lines) != 1:
        raise InvalidInputError(f"{file_of(work.lane)}: expected one line")
    assignments = ", ".join(
        f"{name} = greatest(lane.{name}, new.{name})"
        if name in _NEVER_LESS
        else f"{name} = new.{name}"
        for name in (column.name for column in exported_columns(work.lane))
    )
    statement = f"""
    UPDATE lane SET {assignments} FROM jsonb_populate_record(NULL::lane, %(row)s::jsonb) AS new
     WHERE lane.agent_id = %(agent)s
    """  # noqa: S608 - names of our own
    connection.exec_driver_sql(statement, {"agent": agent_id, "row": lines[0].decode()})


def _insert(connection: Connection, agent_id: str, table: Table, batch: Sequence[_Row]) -> None:
    """Insert rows; raises ``InvalidInputError`` for errors that only the database finds."""
    values = {each.name: f"new.{each.name}" for each in exported_columns(table)}
    if "said_offset" in table.columns:
        values["said_offset"] = _OFFSET
    statement = f"""
    INSERT INTO {table.name} (agent_id, {", ".join(values)})
    SELECT %(agent)s, {", ".join(values.values())}
      FROM jsonb_array_elements(%(rows)s::jsonb) AS line(row),
           jsonb_populate_record(NULL::{table.name}, line.row) AS new
    {_on_conflict(table, values)}
    """  # noqa: S608 - names of our own
    if "embedding" in values:
        rows = json.dumps([_with_vector(row) for _, row in batch])
    else:
        # In the words of the archive: Python's floats lose digits.
        rows = "[" + ",".join(line.decode() for line, _ in batch) + "]"
    try:
        connection.exec_driver_sql(statement, {"agent": agent_id, "rows": rows})
    except (IntegrityError, DataError, ProgrammingError, OperationalError) as error:
        reason = _refusal(error)
        if reason is None:
            raise
        raise InvalidInputError(f"{file_of(table)}: {reason}") from None


def _refusal(
    error: IntegrityError | DataError | ProgrammingError | OperationalError,
) -> str | None:
    """Return the error in the rows; None if the rows are not the cause."""
    if isinstance(error, IntegrityError):
        constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
        return f"a row contradicts another one ({constraint or 'it was erased for good'})"
    if isinstance(error, DataError):
        return "a value that PostgreSQL does not take, such as the character U+0000"
    state = str(getattr(error.orig, "sqlstate", ""))
    if state == _TWICE:
        return "a row contradicts another one: there is one of an agent"
    if state.startswith(_OVER_LIMITS):
        return "a value that is longer than any index takes"
    return None


def _on_conflict(table: Table, names: Iterable[str]) -> str:
    """Return what happens to rows of an agent without content."""
    if table in _REPLACED:
        replaced = ", ".join(f"{name} = excluded.{name}" for name in names)
        return f"ON CONFLICT (agent_id) DO UPDATE SET {replaced}"
    # Tombstones of both servers are kept.
    return "ON CONFLICT DO NOTHING" if table is work.erased_message else ""


def _with_vector(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its vector in pgvector's format."""
    numbers = np.frombuffer(base64.b64decode(row["embedding"]), dtype=">f2").astype(np.float32)
    return {**row, "embedding": to_text(numbers[np.newaxis])[0]}


def _batches(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    batch: list[_Row] = []
    size = 0
    for line, row in rows:
        batch.append((line, row))
        size += len(line)
        if len(batch) == _MOST_ROWS or size >= _MOST_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
