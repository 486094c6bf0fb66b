"""Putting an archive's rows in their place, inside one transaction with the lane locked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection

from memci.errors import ConflictError, ErasedError, InvalidInputError
from memci.storage.archive.consistency import check_consistency
from memci.storage.archive.rows import add_rows, record_type
from memci.storage.archive.tables import CARRIED, Carried
from memci.storage.archive.unpacking import Unpacking
from memci.storage.erasure.erase import erased_among, stand_alone
from memci.storage.schema import lane, message, page_text
from memci.storage.search_index import sum_all

# One statement's share: no more rows, and no more bytes but for one long row.
_ROWS = 500
_BYTES = 1024 * 1024
# What an agent may have that holds nothing: what was set for it, and what an erasure has left.
_MAY_BE_THERE = {
    "agent_setting": "true",
    "receipt": "kind = 'erasure'",
    "erased_message": "true",
    "lane": "true",
    "page_tree": "version = 0",
    "page_text": "true",  # no page refers to it
}
# Whoever was at work for the agent, which had nothing to do, looks anew.
_FENCE_OFF = """
UPDATE lane SET fence = fence + 1, lease_owner = NULL, lease_until = NULL WHERE agent_id = %s
"""
# Ids and seqs of an erased life that was here before do not come back either.
_GO_ON = frozenset({"message_seq", "last_node_id", "last_document_id", "last_chunk_id"})
_UPDATE_LANE = """
UPDATE lane SET {values} FROM jsonb_to_record(%(row)s::jsonb) AS new({types})
WHERE lane.agent_id = %(agent)s
"""
_COUNT_ERASED = """
UPDATE lane SET written_at = coalesce(written_at, now()), erased_messages =
    message_seq - (SELECT count(*) FROM message WHERE message.agent_id = lane.agent_id)
WHERE agent_id = %s
"""
_STALE = """
SELECT EXISTS (
    SELECT FROM (SELECT model, vector_dims(embedding) AS dimension FROM message_vector
                  WHERE agent_id = %(agent)s
                  UNION SELECT model, vector_dims(embedding) FROM node_vector
                  WHERE agent_id = %(agent)s
                  UNION SELECT model, vector_dims(embedding) FROM chunk_vector
                  WHERE agent_id = %(agent)s) AS made
    WHERE NOT EXISTS (SELECT FROM vector_model AS held
                      WHERE (held.model, held.dimension) = (made.model, made.dimension)))
"""
_WAITING = "SELECT count(*) FROM job WHERE agent_id = %s AND state = 'queued'"


def make_way(connection: Connection, agent_id: str) -> None:
    """Let nobody else write for the agent; ``ConflictError`` when it holds something already."""
    stand_alone(connection, agent_id)
    for entry in CARRIED:
        allowed = _MAY_BE_THERE.get(entry.name, "false")
        look = f"SELECT FROM {entry.name} WHERE agent_id = %s AND NOT ({allowed}) LIMIT 1"
        found = connection.exec_driver_sql(look, (agent_id,))
        if found.first() is not None:
            raise ConflictError(
                f"agent {agent_id} is there already, and holds something: import under another "
                "id, or erase that agent first"
            )
    connection.exec_driver_sql(_FENCE_OFF, (agent_id,))


def fill(connection: Connection, agent_id: str, archive: Unpacking) -> dict[str, int]:
    """Put all rows in but texts of notes, which are ``keep_bodies``'s; return how many by table.

    Raises ``InvalidInputError`` that says where the archive is wrong, and ``ErasedError`` when a
    message in it was erased from this agent for good.
    """
    for entry in CARRIED:
        if entry.table is lane:
            _fill_lane(connection, agent_id, entry, archive)
        elif entry.table is message:
            _fill_messages(connection, agent_id, entry, archive)
        elif entry.table is not page_text:
            for batch in _batches(archive.rows(entry)):
                _add(connection, agent_id, entry, batch)
    check_consistency(connection, agent_id)
    sum_all(connection, agent_id)
    connection.exec_driver_sql(_COUNT_ERASED, (agent_id,))
    return {name: told.rows for name, told in archive.manifest.tables.items() if told.rows}


def has_foreign_vectors(connection: Connection, agent_id: str) -> bool:
    """Tell whether vectors are there that are not, or may not be, of the embedder in use."""
    return bool(connection.exec_driver_sql(_STALE, {"agent": agent_id}).scalar_one())


def waiting_jobs(connection: Connection, agent_id: str) -> int:
    """Count the jobs that are to be run."""
    return int(connection.exec_driver_sql(_WAITING, (agent_id,)).scalar_one())


def _fill_messages(
    connection: Connection, agent_id: str, entry: Carried, archive: Unpacking
) -> None:
    """Put messages in; the database would refuse erased ones, too, but not say how many."""
    erased = 0
    for batch in _batches(archive.rows(entry)):
        erased += len(erased_among(connection, agent_id, [row["id"] for _, row in batch]))
        if not erased:
            _add(connection, agent_id, entry, batch)
    if erased:
        raise ErasedError(
            f"{erased} of the archive's messages were erased for good from agent {agent_id}: "
            "erase them where the archive comes from, and export again"
        )


def _fill_lane(connection: Connection, agent_id: str, entry: Carried, archive: Unpacking) -> None:
    rows = list(archive.rows(entry))
    if len(rows) != 1:
        raise InvalidInputError(f"{entry.file}: expected one line")
    values = ", ".join(
        f"{name} = greatest(lane.{name}, new.{name})" if name in _GO_ON else f"{name} = new.{name}"
        for name in (each.name for each in entry.columns)
    )
    statement = _UPDATE_LANE.format(values=values, types=record_type(entry, list(entry.columns)))
    connection.exec_driver_sql(statement, {"agent": agent_id, "row": rows[0][0].decode()})


def _add(
    connection: Connection, agent_id: str, entry: Carried, batch: list[tuple[bytes, Any]]
) -> None:
    try:
        add_rows(connection, agent_id, entry, batch)
    except InvalidInputError as error:
        raise InvalidInputError(f"{entry.file}: {error}") from None


def _batches(rows: Iterable[tuple[bytes, Any]]) -> Iterator[list[tuple[bytes, Any]]]:
    batch: list[tuple[bytes, Any]] = []
    size = 0
    for line, row in rows:
        batch.append((line, row))
        size += len(line)
        if len(batch) == _ROWS or size >= _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
