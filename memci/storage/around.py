"""What a message means among its neighbours: its vector, summed with theirs (R11b).

Kept beside the vector itself, so that a search reads one row a message. Whatever adds, replaces
or erases vectors renews the rows about it, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

# 1, 0.5 and 0.2 times 5: pgvector refuses products that a halfvec cannot hold, as small ones
# times less than one would be. The sum is scaled to length one.
# Of users who share a session, nobody's words lend their sense to another's.
# Row by row by their keys: joined, all messages of the agent would be read.
_SUMS = """
SELECT %(agent)s, c.seq, c.position, l2_normalize(sum(n.embedding * w.weight)), v.model
  FROM {positions} p
 CROSS JOIN LATERAL (SELECT seq, position, user_id FROM message
                      WHERE agent_id = %(agent)s AND position = p.position OFFSET 0) c
 CROSS JOIN LATERAL (SELECT embedding, model FROM message_vector
                      WHERE agent_id = %(agent)s AND seq = c.seq OFFSET 0) v
 CROSS JOIN (VALUES (-2, 1.0::real), (-1, 2.5::real), (0, 5.0::real), (1, 2.5::real),
                    (2, 1.0::real)) AS away(steps, times)
 CROSS JOIN LATERAL (SELECT seq FROM message
                      WHERE agent_id = %(agent)s AND position = c.position + away.steps
                        AND coalesce(user_id = c.user_id, true) OFFSET 0) o
 CROSS JOIN LATERAL (SELECT embedding FROM message_vector
                      WHERE agent_id = %(agent)s AND seq = o.seq AND model = v.model
                        AND vector_dims(embedding) = vector_dims(v.embedding) OFFSET 0) n
 CROSS JOIN LATERAL (SELECT array_fill(away.times, ARRAY[vector_dims(v.embedding)])::halfvec
                         AS weight) w
 GROUP BY c.seq, c.position, v.model
"""
_INTO = """
INSERT INTO message_around (agent_id, seq, position, embedding, model) {sums}
ON CONFLICT (agent_id, seq) DO UPDATE
SET position = excluded.position, embedding = excluded.embedding, model = excluded.model
"""
_ABOUT = """
(SELECT DISTINCT m.position + steps AS position FROM unnest(%(seqs)s::bigint[]) AS named(seq)
  CROSS JOIN LATERAL (SELECT position FROM message WHERE agent_id = %(agent)s
                         AND seq = named.seq AND position IS NOT NULL OFFSET 0) m
  CROSS JOIN generate_series(-2, 2) AS steps)
"""
_ALL = "(SELECT position FROM message WHERE agent_id = %(agent)s AND position IS NOT NULL)"
# For those whose vectors are gone already and whose rows are still there.
RENEW_ABOUT = _INTO.format(sums=_SUMS.format(positions=_ABOUT))
RENEW_ALL = _INTO.format(sums=_SUMS.format(positions=_ALL))


def renew_around(connection: Connection, agent_id: str, seqs: Collection[int]) -> None:
    """Sum anew for these messages and for those beside them, whose vectors have changed."""
    if seqs:
        values = {"agent": agent_id, "seqs": list(seqs)}
        connection.exec_driver_sql(RENEW_ABOUT, values)


def sum_all(connection: Connection, agent_id: str) -> None:
    """Sum for all messages of an agent whose vectors came without their sums."""
    connection.exec_driver_sql(RENEW_ALL, {"agent": agent_id})
