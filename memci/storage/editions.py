"""Networks that are rebuilt beside the current ones (M24); each agent has at most one.

Its nodes and all that belongs to them lie in tables of the same names in a schema of their own
(``Database.beside``). Lanes must be locked by whoever writes here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from memci.domain.memory.replay import Edition, EditionState
from memci.domain.memory.scan import Forgetting
from memci.storage.rows import EDITION_SCHEMA, TWINNED, trail
from memci.storage.trail import TrailEvent

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
    settled = %(settled)s, finished_at = CASE WHEN %(finished)s THEN now() END
WHERE agent_id = %(agent)s AND number = %(number)s
"""
# What lived so far is succeeded by what was made of the same messages.
_SUCCEED = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
SELECT lane.agent_id, node.id, %s, lane.pass_number, jsonb_build_object('reason', %s::text)
FROM public.node JOIN lane USING (agent_id) WHERE node.agent_id = %s ORDER BY node.id
"""
# Use speaks for a memory at the end of its short term (R5), under its new id too.
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
# A network as of an earlier message leaves out what came later: that may be asked for anew, and
# does not go to memory by itself.
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
# Logs of passes tell what has run; those of a rebuilt network only tell when it was rebuilt.
_KEPT = frozenset({"pass_log"})


class Known(NamedTuple):
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
    """Begin one with an empty network; there must be none that is open."""
    clear_edition(connection, agent_id)
    values = (agent_id, begun_at, up_to_seq, cut_at, agent_id)
    number = connection.exec_driver_sql(_INSERT, values).scalar_one()
    return Edition(number, EditionState.BUILDING, begun_at, up_to_seq, cut_at)


def open_edition(connection: Connection, agent_id: str) -> Edition | None:
    """Return the edition that is neither switched to nor dropped."""
    row = connection.exec_driver_sql(_READ_OPEN, (agent_id,)).first()
    return None if row is None else _edition(tuple(row))


def last_edition(connection: Connection, agent_id: str) -> Known | None:
    """Return the latest edition, open or not."""
    row = connection.exec_driver_sql(_LAST, (agent_id,)).first()
    return None if row is None else Known(_edition(tuple(row)[:-2]), row[-2], row[-1])


def save_edition(connection: Connection, agent_id: str, edition: Edition) -> None:
    """Write how far it is."""
    values = {
        "agent": agent_id,
        "number": edition.number,
        "state": edition.state,
        "place": edition.place,
        "scanned": edition.scanned,
        "settled": edition.settled,
        "finished": edition.state in {EditionState.SWITCHED, EditionState.DROPPED},
    }
    connection.exec_driver_sql(_SAVE, values)


def drop_edition(connection: Connection, agent_id: str, edition: Edition) -> None:
    """Delete the rebuilt network; jobs that were to take it further find nothing to do."""
    clear_edition(connection, agent_id)
    save_edition(connection, agent_id, replace(edition, state=EditionState.DROPPED))


def has_stale_vectors(connection: Connection, agent_id: str) -> bool:
    """Tell whether the rebuilt network has vectors of an embedder that is no longer in use."""
    return bool(connection.exec_driver_sql(_STALE, (agent_id,)).scalar())


def switch_networks(connection: Connection, agent_id: str) -> None:
    """Put the rebuilt network in the place of the current one, which is gone then.

    Trails of its nodes stay. The log tells from now on what has made the new one.
    """
    succession = (TrailEvent.FORGOTTEN, Forgetting.SWITCHED, agent_id)
    connection.exec_driver_sql(_SUCCEED, succession)
    connection.exec_driver_sql(_CARRY_USES, (TrailEvent.USED, agent_id))
    connection.exec_driver_sql(_LEAVE_OUT, {"agent": agent_id})
    for table in TWINNED:
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
    """Delete the rebuilt network of an agent, with all that belongs to it."""
    for table in TWINNED:
        connection.exec_driver_sql(
            f"DELETE FROM {EDITION_SCHEMA}.{table.name} WHERE agent_id = %s",  # noqa: S608 - ours
            (agent_id,),
        )


def _edition(row: tuple[object, ...]) -> Edition:
    number, state, *rest = row
    return Edition(number, EditionState(state), *rest)  # type: ignore[arg-type]  # a row is untyped
