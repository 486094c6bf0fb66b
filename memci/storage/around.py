"""What a message means among its neighbours: its vector, summed with theirs (R11b).

Kept beside the vector itself, so that a search reads one row a message. Whatever adds, replaces
or erases vectors renews the rows about it, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

# 1, 0.5 and 0.2 times 5: pgvector refuses products that a halfvec cannot hold, as small ones
# times less than one would be. The sum is scaled to length one.
_SUMS = """
SELECT %(agent)s, c.seq, c.position, l2_normalize(sum(n.embedding * w.weight)), v.model
  FROM message c
  JOIN message_vector v ON v.agent_id = %(agent)s AND v.seq = c.seq
 CROSS JOIN LATERAL (VALUES
       (-2, 1.0::real), (-1, 2.5::real), (0, 5.0::real), (1, 2.5::real), (2, 1.0::real)
       ) AS away(steps, times)
  JOIN message o ON o.agent_id = %(agent)s AND o.position = c.position + away.steps
  JOIN message_vector n ON n.agent_id = %(agent)s AND n.seq = o.seq AND n.model = v.model
                       AND vector_dims(n.embedding) = vector_dims(v.embedding)
 CROSS JOIN LATERAL (SELECT array_fill(away.times, ARRAY[vector_dims(v.embedding)])::halfvec
                         AS weight) w
 WHERE c.agent_id = %(agent)s AND {which}
 GROUP BY c.seq, c.position, v.model
"""
_INTO = """
INSERT INTO message_around (agent_id, seq, position, embedding, model) {sums}
ON CONFLICT (agent_id, seq) DO UPDATE SET embedding = excluded.embedding, model = excluded.model
"""
_ABOUT = """
c.position IN (SELECT m.position + steps FROM message m, generate_series(-2, 2) AS steps
                WHERE m.agent_id = %(agent)s AND m.seq = ANY(%(seqs)s::bigint[])
                  AND m.position IS NOT NULL)
"""
# For those whose vectors are gone already and whose rows are still there.
RENEW_ABOUT = _INTO.format(sums=_SUMS.format(which=_ABOUT))
RENEW_ALL = _INTO.format(sums=_SUMS.format(which="c.position IS NOT NULL"))


def renew_around(connection: Connection, agent_id: str, seqs: Collection[int]) -> None:
    """Sum anew for these messages and for those beside them, whose vectors have changed."""
    if seqs:
        values = {"agent": agent_id, "seqs": list(seqs)}
        connection.exec_driver_sql(RENEW_ABOUT, values)


def sum_all(connection: Connection, agent_id: str) -> None:
    """Sum for all messages of an agent whose vectors came without their sums."""
    connection.exec_driver_sql(RENEW_ALL, {"agent": agent_id})
