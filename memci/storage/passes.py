"""Passes: which is under way, how far it is, and their log (M17, M18)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.memory.cursor import PassCursor
from memci.storage.replay_log import log_scanned

_READ = """
SELECT compress_req, compress_done, compress_cursor, pass_number FROM lane WHERE agent_id = %s
"""
_POSITION = """
SELECT last_node_id,
       coalesce((SELECT max(p.number) FROM pass_log p WHERE p.agent_id = lane.agent_id), 0)
           AS pass_number
FROM lane WHERE agent_id = %s
"""
_BEGIN = """
UPDATE lane SET pass_number = pass_number + 1 WHERE agent_id = %s
RETURNING pass_number, message_seq
"""
_LOG = """
UPDATE pass_log SET scanned = scanned + %(scanned)s, compressed = compressed + %(compressed)s,
    forgotten = forgotten + %(forgotten)s, broken = broken + %(broken)s,
    given_up = given_up + %(given_up)s
WHERE agent_id = %(agent)s AND number = %(number)s
"""
_LEFT = """
SELECT count(*), count(*) FILTER (WHERE attempts_pass = %(pass)s AND retry_at > %(now)s),
       min(retry_at) FILTER (WHERE attempts_pass = %(pass)s)
FROM node WHERE agent_id = %(agent)s AND last_pass < %(pass)s
"""


@dataclass(frozen=True, slots=True)
class CompressionState:
    """What the lane says about compression. It is wanted while requested > done."""

    requested: int
    done: int
    cursor: PassCursor | None
    pass_number: int


@dataclass(frozen=True, slots=True)
class PassCounts:
    """What happened in a part of a pass."""

    scanned: int
    compressed: int
    forgotten: int
    broken: int
    given_up: int


@dataclass(frozen=True, slots=True)
class Left:
    """Nodes that a pass has not scanned yet, and how many of them wait for a model until when."""

    nodes: int
    waiting: int
    retry_at: datetime | None


def compression_state(connection: Connection, agent_id: str) -> CompressionState:
    """Read it; the lane must exist."""
    row = connection.exec_driver_sql(_READ, (agent_id,)).one()
    cursor = row.compress_cursor and _cursor(row.compress_cursor)
    return CompressionState(row.compress_req, row.compress_done, cursor, row.pass_number)


def position(connection: Connection, agent_id: str) -> tuple[int, int]:
    """Return the last node id that was given out, and the number of the network's last pass.

    Ids are the lane's in every edition; passes are the edition's own. The lane should be locked.
    """
    row = connection.exec_driver_sql(_POSITION, (agent_id,)).one()
    return row.last_node_id, row.pass_number


def begin_pass(connection: Connection, agent_id: str) -> int:
    """Take the next pass number and log where in the raw messages the pass runs."""
    number, message_seq = connection.exec_driver_sql(_BEGIN, (agent_id,)).one()
    open_pass(connection, agent_id, number, message_seq)
    return int(number)


def open_pass(connection: Connection, agent_id: str, number: int, message_seq: int) -> None:
    """Log that a pass begins at this position in the raw messages (M18)."""
    connection.exec_driver_sql(
        "INSERT INTO pass_log (agent_id, number, message_seq) VALUES (%s, %s, %s)",
        (agent_id, number, message_seq),
    )
    log_scanned(connection, agent_id, number, 0)


def move_cursor(connection: Connection, agent_id: str, cursor: PassCursor) -> None:
    """Store where the pass stands."""
    body = {
        "pass": cursor.number,
        "req": cursor.request,
        "fence": cursor.fence,
        "unavailable": cursor.unavailable,
        "mute": cursor.mute,
        "retry_at": cursor.retry_at and cursor.retry_at.isoformat(),
    }
    connection.exec_driver_sql(
        "UPDATE lane SET compress_cursor = %s WHERE agent_id = %s", (Jsonb(body), agent_id)
    )


def log_pass(connection: Connection, agent_id: str, number: int, counts: PassCounts) -> None:
    """Add to the pass's counts."""
    values = {field: getattr(counts, field) for field in counts.__slots__}
    connection.exec_driver_sql(_LOG, {"agent": agent_id, "number": number, **values})
    log_scanned(connection, agent_id, number, counts.scanned)


def left_of_pass(connection: Connection, agent_id: str, number: int, now: datetime) -> Left:
    """Count what a pass has still to scan."""
    values = {"agent": agent_id, "pass": number, "now": now}
    return Left(*connection.exec_driver_sql(_LEFT, values).one())


def close_pass(connection: Connection, agent_id: str, number: int) -> None:
    """Log that a pass has scanned all that it had to."""
    connection.exec_driver_sql(
        "UPDATE pass_log SET finished_at = now() WHERE agent_id = %s AND number = %s",
        (agent_id, number),
    )
    log_scanned(connection, agent_id, number, 0, ended=True)


def end_pass(connection: Connection, agent_id: str, cursor: PassCursor) -> None:
    """Mark a pass as finished, and the request that it fulfilled as done."""
    close_pass(connection, agent_id, cursor.number)
    connection.exec_driver_sql(
        "UPDATE lane SET compress_cursor = NULL, compress_done = greatest(compress_done, %s)"
        " WHERE agent_id = %s",
        (cursor.request, agent_id),
    )


def _cursor(body: dict[str, Any]) -> PassCursor:
    retry_at = body.get("retry_at")
    return PassCursor(
        number=body["pass"],
        request=body["req"],
        fence=body.get("fence", 0),
        unavailable=body.get("unavailable", 0),
        mute=body.get("mute", False),
        retry_at=datetime.fromisoformat(retry_at) if retry_at else None,
    )
