"""Events in the order in which readers get them; the outbox of webhooks and streams.

An event is added in the transaction of what it tells, most by triggers (``initial.sql``). Its
position begins with the number of that transaction, as transactions do not commit in the order in
which they took numbers of a sequence. Readers stop before the first transaction that still runs,
so that they skip none that commits later. Events of one agent are in the order of their commits:
writers lock its lane first.
"""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.events import EventType, Position, StoredEvent

_ADD = "INSERT INTO event (agent_id, type, data) VALUES (%s, %s, %s)"
_NOW = "SELECT event_horizon()"
_READ = """
SELECT tx, place, agent_id, type, data, at FROM event
 WHERE (tx, place) > (%(tx)s, %(place)s) AND tx < event_horizon() {condition}
 ORDER BY tx, place LIMIT %(limit)s
"""
_READ_ALL = _READ.format(condition="")
_READ_AGENT = _READ.format(condition="AND agent_id = %(agent)s")
# The oldest first, until one is young enough.
_PRUNE = """
DELETE FROM event WHERE ctid = ANY(ARRAY(SELECT ctid FROM event ORDER BY tx, place LIMIT %s))
   AND at < now() - %s * interval '1 second'
"""
_AT_ONCE = 5_000
_RAISE_OFFSET = """
SELECT setval('event_offset', last_value + ahead) FROM event_offset, (
    SELECT max(tx) + 1 - event_time(pg_snapshot_xmax(pg_current_snapshot())) AS ahead
      FROM event) AS latest WHERE ahead > 0
"""


def add_event(
    connection: Connection, agent_id: str, kind: EventType, data: Mapping[str, Any]
) -> None:
    """Add an event that no trigger adds."""
    connection.exec_driver_sql(_ADD, (agent_id, kind, Jsonb(dict(data))))


def latest_position(connection: Connection) -> Position:
    """Return the position after which the events come that are not complete yet."""
    return Position(int(connection.exec_driver_sql(_NOW).scalar_one()), 0)


def events_after(
    connection: Connection, after: Position, *, limit: int, agent_id: str | None = None
) -> list[StoredEvent]:
    """Return the next complete events of one agent or, to upkeep alone, of all."""
    values = {"tx": after.tx, "place": after.place, "limit": limit, "agent": agent_id}
    rows = connection.exec_driver_sql(_READ_ALL if agent_id is None else _READ_AGENT, values)
    return [
        StoredEvent(Position(tx, place), agent, EventType(kind), data, at)
        for tx, place, agent, kind, data, at in rows
    ]


def prune_events(connection: Connection, *, keep_s: float) -> bool:
    """Delete some events older than ``keep_s``; return True if there may be more."""
    return connection.exec_driver_sql(_PRUNE, (_AT_ONCE, keep_s)).rowcount == _AT_ONCE


def continue_order(connection: Connection) -> None:
    """Put new events behind the present ones, also in another cluster, whose numbers are lower."""
    connection.exec_driver_sql(_RAISE_OFFSET)
