"""Editions: rebuilt networks beside the current ones, and the replay log that builds them (M24).

The rebuilt nodes and their rows are in tables of the same names in a schema of their own
(``Database.on_edition``). Writers must lock the lane.

The log is written in the transaction of the logged change. During a rebuild the same statements
write the log of the rebuilt network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.memory.compression_scan import Forgetting
from memci.domain.memory.network_edition import Edition, EditionState, ReplayEntry, ReplayEvent
from memci.domain.memory.node import NodeEvent
from memci.storage.schema.network import EDITION_SCHEMA, EDITION_TABLES, trail

_COLUMNS = "number, state, begun_at, up_to_seq, cut_at, place, scanned, settled"
_OPEN = "state IN ('building', 'ready', 'switching')"
_INSERT = """
INSERT INTO edition (agent_id, number, state, begun_at, up_to_seq, cut_at)
SELECT %s, coalesce(max(number), 0) + 1, 'building', %s, %s, %s FROM edition WHERE agent_id = %s
RETURNING number
"""
_LAST = f"""
SELECT {_COLUMNS}, created_at, finished_at FROM edition WHERE agent_id = %s
ORDER BY number DESC LIMIT 1
"""  # noqa: S608 - constants of this module
_READ_OPEN = f"SELECT {_COLUMNS} FROM edition WHERE agent_id = %s AND {_OPEN}"  # noqa: S608 - as above
_SAVE = """
UPDATE edition SET state = %(state)s, place = %(place)s, scanned = %(scanned)s,
    settled = %(settled)s,
    finished_at = CASE WHEN %(state)s::text IN ('switched', 'dropped') THEN now() END
WHERE agent_id = %(agent)s AND number = %(number)s
"""
# Living nodes are succeeded by nodes of the same messages.
_SUCCEED = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
SELECT lane.agent_id, node.id, %s, lane.pass_number, jsonb_build_object('reason', %s::text)
FROM public.node JOIN lane USING (agent_id) WHERE node.agent_id = %s ORDER BY node.id
"""
# Uses of a memory count at the end of its short term (R5), also under its new id.
_CARRY_USES = f"""
INSERT INTO {EDITION_SCHEMA}.trail (agent_id, node_id, event, pass_number, details)
SELECT used.agent_id, new.id, used.event, used.pass_number, used.details
  FROM {EDITION_SCHEMA}.node new
  JOIN {EDITION_SCHEMA}.trail made
    ON made.agent_id = new.agent_id AND made.node_id = new.id AND made.event = 'created'
  JOIN public.node old ON old.agent_id = new.agent_id AND old.message_seqs = new.message_seqs
  JOIN public.trail was ON was.agent_id = old.agent_id AND was.node_id = old.id
   AND was.event = 'created' AND was.details->'span' IS NOT DISTINCT FROM made.details->'span'
  JOIN public.trail used
    ON used.agent_id = old.agent_id AND used.node_id = old.id AND used.event = %s
 WHERE new.agent_id = %s AND new.tier = 'short' AND new.kind = 'memory' ORDER BY used.id
"""  # noqa: S608 - a constant of ours
# A network as of an earlier message leaves out later messages: they may be requested again, and are
# not handed over automatically.
_LEAVE_OUT = f"""
UPDATE message SET memory_state = 'none', memory_reason = NULL, remember = 'never'
WHERE agent_id = %(agent)s AND memory_state IN ('made', 'filtered') AND seq IN (
    SELECT unnest(seqs) FROM public.replay_log WHERE agent_id = %(agent)s
    EXCEPT SELECT unnest(seqs) FROM {EDITION_SCHEMA}.replay_log WHERE agent_id = %(agent)s)
"""  # noqa: S608 - constants of this module
_STALE = f"""
SELECT EXISTS (SELECT FROM {EDITION_SCHEMA}.node_vector v
    JOIN {EDITION_SCHEMA}.node n ON n.agent_id = v.agent_id AND n.id = v.node_id
    JOIN vector_model held
    ON (v.model, vector_dims(v.embedding)) <> (held.model, held.dimension) WHERE v.agent_id = %s)
"""  # noqa: S608 - a constant of ours
# The log of passes tells what ran; that of a rebuilt network only when it was rebuilt.
_KEPT = frozenset({"pass_log"})


class LastEdition(NamedTuple):
    """The last edition of an agent; ``finished_at``: when it was switched to or dropped."""

    edition: Edition
    created_at: datetime
    finished_at: datetime | None


def begin_edition(
    connection: Connection,
    agent_id: str,
    *,
    begun_at: int,
    up_to_seq: int | None,
    cut_at: int | None,
) -> Edition:
    """Begin an edition with an empty network; no other one may be open."""
    clear_edition(connection, agent_id)
    values = (agent_id, begun_at, up_to_seq, cut_at, agent_id)
    number = connection.exec_driver_sql(_INSERT, values).scalar_one()
    return Edition(number, EditionState.BUILDING, begun_at, up_to_seq, cut_at)


def open_edition(connection: Connection, agent_id: str) -> Edition | None:
    """Return the edition that is neither switched to nor dropped."""
    row = connection.exec_driver_sql(_READ_OPEN, (agent_id,)).first()
    return None if row is None else _edition(tuple(row))


def last_edition(connection: Connection, agent_id: str) -> LastEdition | None:
    """Return the latest edition, open or not."""
    row = connection.exec_driver_sql(_LAST, (agent_id,)).first()
    return None if row is None else LastEdition(_edition(tuple(row)[:-2]), row[-2], row[-1])


def save_edition(connection: Connection, agent_id: str, edition: Edition) -> None:
    """Store the progress of an edition."""
    connection.exec_driver_sql(_SAVE, _values(agent_id, edition))


def drop_edition(connection: Connection, agent_id: str, edition: Edition) -> None:
    """Delete the rebuilt network; jobs that would continue it find nothing to do."""
    clear_edition(connection, agent_id)
    save_edition(connection, agent_id, replace(edition, state=EditionState.DROPPED))


def has_stale_vectors(connection: Connection, agent_id: str) -> bool:
    """Return True if the rebuilt network has vectors of an embedder that is not in use."""
    return bool(connection.exec_driver_sql(_STALE, (agent_id,)).scalar())


def switch_networks(connection: Connection, agent_id: str) -> None:
    """Replace the current network, which is deleted, by the rebuilt one.

    Trails of the deleted nodes stay. From now on the replay log is that of the new network.
    """
    succession = (NodeEvent.FORGOTTEN, Forgetting.SWITCHED, agent_id)
    connection.exec_driver_sql(_SUCCEED, succession)
    connection.exec_driver_sql(_CARRY_USES, (NodeEvent.USED, agent_id))
    connection.exec_driver_sql(_LEAVE_OUT, {"agent": agent_id})
    for table in EDITION_TABLES:
        if table.name in _KEPT:
            continue
        if table is not trail:
            connection.exec_driver_sql(
                f"DELETE FROM public.{table.name} WHERE agent_id = %s",  # noqa: S608 - our own name
                (agent_id,),
            )
        columns = ", ".join(each.name for each in table.columns if each.identity is None)
        order = ", ".join(each.name for each in table.primary_key)
        connection.exec_driver_sql(
            f"INSERT INTO public.{table.name} ({columns}) SELECT {columns}"  # noqa: S608 - as above
            f" FROM {EDITION_SCHEMA}.{table.name} WHERE agent_id = %s ORDER BY {order}",
            (agent_id,),
        )
    clear_edition(connection, agent_id)


def clear_edition(connection: Connection, agent_id: str) -> None:
    """Delete the rebuilt network of an agent with all its rows."""
    for table in EDITION_TABLES:
        connection.exec_driver_sql(
            f"DELETE FROM {EDITION_SCHEMA}.{table.name} WHERE agent_id = %s",  # noqa: S608 - ours
            (agent_id,),
        )


def _edition(row: tuple[object, ...]) -> Edition:
    number, state, *rest = row
    return Edition(number, EditionState(state), *rest)  # type: ignore[arg-type]  # a row is untyped


_LOG = """
INSERT INTO replay_log (agent_id, event, job_id, seqs, details) VALUES (%s, %s, %s, %s, %s)
"""
# A pass is one entry until something else changes the network.
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
AND (%(cut_at)s::bigint IS NULL OR place <= %(cut_at)s OR place > %(begun_at)s)
ORDER BY place LIMIT 2
"""
_COUNTS = """
SELECT count(*) FILTER (WHERE place < %(place)s OR (place = %(place)s AND %(settled)s)), count(*)
FROM replay_log WHERE agent_id = %(agent)s
AND (%(cut_at)s::bigint IS NULL OR place <= %(cut_at)s OR place > %(begun_at)s)
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
    """Log what a job or a command did to the network: ids and numbers, no message text."""
    connection.exec_driver_sql(
        _LOG, (agent_id, event, job_id, sorted(seqs), Jsonb(dict(details or {})))
    )


def log_scanned(
    connection: Connection, agent_id: str, number: int, scanned: int, *, ended: bool = False
) -> None:
    """Log that a pass has scanned ``scanned`` more nodes, and whether it ended."""
    values = {"agent": agent_id, "pass": number, "scanned": scanned, "ended": ended}
    connection.exec_driver_sql(_SCANNED, values)


def next_entry(connection: Connection, agent_id: str, edition: Edition) -> ReplayEntry | None:
    """Return the first log entry that an edition has not completely replayed."""
    for row in connection.exec_driver_sql(_NEXT, _values(agent_id, edition)):
        place, event, job_id, seqs, *rest = row
        entry = ReplayEntry(place, ReplayEvent(event), job_id, tuple(seqs), *rest)
        if not edition.has_done(entry):
            return entry
    return None


def replayed(connection: Connection, agent_id: str, edition: Edition) -> tuple[int, int]:
    """Return how many log entries an edition has replayed, and how many there are."""
    done, entries = connection.exec_driver_sql(_COUNTS, _values(agent_id, edition)).one()
    return done, entries


def end_of_log(connection: Connection, agent_id: str) -> int:
    """Return the position of the last entry, 0 if there is none."""
    return int(connection.exec_driver_sql(_END, (agent_id,)).scalar_one())


def first_beyond(connection: Connection, agent_id: str, seq: int) -> int | None:
    """Return the position of the first entry that takes a message after ``seq``."""
    found = connection.exec_driver_sql(_FIRST_BEYOND, (agent_id, seq)).scalar()
    return None if found is None else int(found)


def _values(agent_id: str, edition: Edition) -> dict[str, Any]:
    return {**asdict(edition), "agent": agent_id}
