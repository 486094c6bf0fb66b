"""Sessions: found by their messages; only what somebody ended is written down (R5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

# From one session to the next by the index: messages are read of those alone that are listed.
_LIST = """
WITH RECURSIVE named AS (
    (SELECT session_id FROM message WHERE agent_id = %(agent)s AND session_id > %(after)s
      ORDER BY session_id LIMIT 1)
    UNION ALL
    SELECT (SELECT m.session_id FROM message m
             WHERE m.agent_id = %(agent)s AND m.session_id > named.session_id
             ORDER BY m.session_id LIMIT 1)
      FROM named WHERE named.session_id IS NOT NULL)
SELECT named.session_id, said.*, e.seq AS ended_seq, e.ended_at,
       (SELECT count(*) FROM node n WHERE n.agent_id = %(agent)s AND n.tier = 'short'
           AND n.session_id = named.session_id) AS short_memories
  FROM (SELECT session_id FROM named WHERE session_id IS NOT NULL LIMIT %(limit)s) named
 CROSS JOIN LATERAL (
       SELECT count(*) AS messages, min(m.seq) AS first_seq, max(m.seq) AS last_seq,
              min(m.said_at) AS began_at, max(m.said_at) AS last_at,
              max(m.received_at) AS received_at,
              (array_agg(m.said_offset ORDER BY m.said_at, m.seq))[1] AS began_offset,
              (array_agg(m.said_offset ORDER BY m.said_at DESC, m.seq DESC))[1] AS last_offset
         FROM message m WHERE m.agent_id = %(agent)s AND m.session_id = named.session_id) said
  LEFT JOIN session_end e ON e.agent_id = %(agent)s AND e.session_id = named.session_id
 ORDER BY named.session_id
"""
# Ended again, it has ended when it was first ended, unless something was said since.
_END = """
INSERT INTO session_end (agent_id, session_id, seq)
SELECT agent_id, session_id, max(seq) FROM message
 WHERE agent_id = %s AND session_id = %s GROUP BY agent_id, session_id
ON CONFLICT (agent_id, session_id) DO UPDATE
SET seq = excluded.seq,
    ended_at = CASE WHEN session_end.seq < excluded.seq THEN now() ELSE session_end.ended_at END
RETURNING seq, ended_at
"""


@dataclass(frozen=True, slots=True)
class Session:
    """What one session holds; ``ended_seq``: the last message when somebody ended it.

    From ``began_at`` to ``last_at`` it was said; ``received_at``: when the last of it came, after
    which silence ends it. ``began_offset`` and ``last_offset`` are for ``at_offset``.
    """

    session_id: str
    messages: int
    first_seq: int
    last_seq: int
    began_at: datetime
    last_at: datetime
    received_at: datetime
    began_offset: int | None
    last_offset: int | None
    ended_seq: int | None
    ended_at: datetime | None
    short_memories: int


def list_sessions(
    connection: Connection, agent_id: str, *, after: str, limit: int
) -> list[Session]:
    """Return sessions whose ids come after one, ascending."""
    values = {"agent": agent_id, "after": after, "limit": limit}
    return [Session(*row) for row in connection.exec_driver_sql(_LIST, values)]


def end_session(
    connection: Connection, agent_id: str, session_id: str
) -> tuple[int, datetime] | None:
    """Note that a session has ended, up to its last message; return which, and when.

    None when there is no message of it.
    """
    row = connection.exec_driver_sql(_END, (agent_id, session_id)).first()
    return (row.seq, row.ended_at) if row else None
