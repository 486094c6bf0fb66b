"""The log of what has made a network, in order (M24): its lane must be locked.

Written in the transaction of what it logs. While a network is rebuilt, the same statements write
the log of the rebuilt one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.memory.replay import Edition, ReplayEntry, ReplayEvent

_LOG = """
INSERT INTO replay_log (agent_id, event, job_id, seqs, details) VALUES (%s, %s, %s, %s, %s)
"""
# A pass is one entry for as long as nothing else happens to the network.
_SCANNED = """
WITH last AS (
    SELECT place, event, pass_number FROM replay_log WHERE agent_id = %(agent)s
    ORDER BY place DESC LIMIT 1),
longer AS (
    UPDATE replay_log SET scanned = scanned + %(scanned)s, ended = %(ended)s
    FROM last WHERE replay_log.agent_id = %(agent)s AND replay_log.place = last.place
    AND last.event = 'scanned' AND last.pass_number = %(pass)s
    RETURNING 1)
INSERT INTO replay_log (agent_id, event, pass_number, scanned, ended)
SELECT %(agent)s, 'scanned', %(pass)s, %(scanned)s, %(ended)s
WHERE NOT EXISTS (SELECT FROM longer)
"""
_NEXT = """
SELECT place, event, job_id, seqs, pass_number, scanned, ended, details FROM replay_log
WHERE agent_id = %(agent)s AND place >= %(place)s
AND (%(cut)s::bigint IS NULL OR place <= %(cut)s OR place > %(begun)s)
ORDER BY place LIMIT 2
"""
_COUNTS = """
SELECT count(*) FILTER (WHERE place < %(place)s OR (place = %(place)s AND %(settled)s)), count(*)
FROM replay_log WHERE agent_id = %(agent)s
AND (%(cut)s::bigint IS NULL OR place <= %(cut)s OR place > %(begun)s)
"""
_END = "SELECT coalesce(max(place), 0) FROM replay_log WHERE agent_id = %s"
_FIRST_BEYOND = """
SELECT min(place) FROM replay_log WHERE agent_id = %s AND event IN ('created', 'restored')
AND EXISTS (SELECT FROM unnest(seqs) AS taken(seq) WHERE seq > %s)
"""


def log_event(
    connection: Connection,
    agent_id: str,
    event: ReplayEvent,
    job_id: UUID,
    seqs: Sequence[int] = (),
    details: Mapping[str, Any] | None = None,
) -> None:
    """Log what a job or a command did to the network: ids and numbers, no text of messages."""
    connection.exec_driver_sql(
        _LOG, (agent_id, event, job_id, sorted(seqs), Jsonb(dict(details or {})))
    )


def log_scanned(
    connection: Connection, agent_id: str, number: int, scanned: int, *, ended: bool = False
) -> None:
    """Log that a pass has scanned so many more nodes, and whether it ended."""
    values = {"agent": agent_id, "pass": number, "scanned": scanned, "ended": ended}
    connection.exec_driver_sql(_SCANNED, values)


def next_entry(connection: Connection, agent_id: str, edition: Edition) -> ReplayEntry | None:
    """Return the first entry of which something is left to replay for an edition."""
    for row in connection.exec_driver_sql(_NEXT, _values(agent_id, edition)):
        entry = ReplayEntry(
            place=row.place,
            event=ReplayEvent(row.event),
            job_id=row.job_id,
            seqs=tuple(row.seqs),
            pass_number=row.pass_number,
            scanned=row.scanned,
            ended=row.ended,
            details=row.details,
        )
        if not edition.has_done(entry):
            return entry
    return None


def replayed(connection: Connection, agent_id: str, edition: Edition) -> tuple[int, int]:
    """Return how many entries an edition has replayed, and of how many."""
    done, entries = connection.exec_driver_sql(_COUNTS, _values(agent_id, edition)).one()
    return done, entries


def end_of_log(connection: Connection, agent_id: str) -> int:
    """Return the place of the last entry, 0 when there is none."""
    return int(connection.exec_driver_sql(_END, (agent_id,)).scalar_one())


def first_beyond(connection: Connection, agent_id: str, seq: int) -> int | None:
    """Return the place of the first entry that takes a message after ``seq``."""
    found = connection.exec_driver_sql(_FIRST_BEYOND, (agent_id, seq)).scalar()
    return None if found is None else int(found)


def _values(agent_id: str, edition: Edition) -> dict[str, Any]:
    return {
        "agent": agent_id,
        "place": edition.place,
        "settled": edition.settled,
        "cut": edition.cut_at,
        "begun": edition.begun_at,
    }
