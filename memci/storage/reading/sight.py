"""Which memories a recall sees: whose, of which tier, and as of when (R5, R6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

_SEEN = "SELECT n.id FROM node n WHERE n.agent_id = %(agent)s AND n.id = ANY(%(nodes)s) AND "
_ANY = """
SELECT EXISTS (SELECT 1 FROM node n WHERE n.agent_id = %(agent)s AND n.kind = 'memory' AND {})
"""
# What a forgotten node was like, at a link ``l`` that dangles: whose it was is told by the last of
# its messages, since no trail keeps that. Where none tells the tier, it is held for a short-term
# one. Once any of its messages is erased, there are no links to it.
_WAS = """
SELECT coalesce((SELECT f.details->>'tier' FROM trail f
                  WHERE f.agent_id = %(agent)s AND f.node_id = l.target AND f.event = 'forgotten'
                  LIMIT 1), 'short') AS tier, m.session_id, m.user_id, m.said_at
  FROM (SELECT (t.details->'messages'->>-1)::bigint AS seq FROM trail t
         WHERE t.agent_id = %(agent)s AND t.node_id = l.target AND t.event = 'created'
        OFFSET 0) c
 CROSS JOIN LATERAL (SELECT session_id, user_id, said_at FROM message
                      WHERE agent_id = %(agent)s AND seq = c.seq OFFSET 0) m
"""
# Looked up link by link: as a join it may be planned to read the whole trail for each.
_GONE = "EXISTS (SELECT 1 FROM ({was}) n WHERE {seen} OFFSET 0)"
_TIER = "(n.tier = 'long' OR n.session_id = %(session)s)"
_USER = "n.user_id = %(user)s"
_AS_OF = "n.said_at <= %(as_of)s"


@dataclass(frozen=True, slots=True)
class Sight:
    """With a session, its short tier and the long one; with a user, the long tier of that user.

    ``as_of`` (aware UTC): nothing that was said later. Without any of them, everything.
    """

    session_id: str | None = None
    user_id: str | None = None
    as_of: datetime | None = None

    @property
    def condition(self) -> str:
        """Return what a memory ``n`` has to be like, as SQL on ``values``."""
        conditions = ["true"]
        if self.session_id is not None or self.user_id is not None:
            conditions.append(_TIER)
        if self.user_id is not None:
            conditions.append(_USER)
        if self.as_of is not None:
            conditions.append(_AS_OF)
        return " AND ".join(conditions)

    @property
    def gone_condition(self) -> str:
        """Return what the forgotten target of a link ``l`` has to have been like, likewise.

        An entity that is gone is no common ground any more: its name is told to those who may hear
        what it was first named in.
        """
        if self == EVERYTHING:
            return "true"
        return _GONE.format(was=_WAS, seen=self.condition)

    @property
    def values(self) -> dict[str, object]:
        """Return what the condition speaks of."""
        return {"session": self.session_id, "user": self.user_id, "as_of": self.as_of}


EVERYTHING = Sight()


def seen(connection: Connection, agent_id: str, nodes: Collection[int], sight: Sight) -> set[int]:
    """Return those of these nodes that are in sight."""
    if sight == EVERYTHING or not nodes:
        return set(nodes)
    values = {**sight.values, "agent": agent_id, "nodes": list(nodes)}
    return set(connection.exec_driver_sql(_SEEN + sight.condition, values).scalars())


def has_memories(connection: Connection, agent_id: str, sight: Sight) -> bool:
    """Tell whether the agent remembers anything in sight."""
    values = {**sight.values, "agent": agent_id}
    return bool(connection.exec_driver_sql(_ANY.format(sight.condition), values).scalar())
