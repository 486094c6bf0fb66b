"""The statements that take lanes and give them back (queue.md, "claim" and "release")."""

from __future__ import annotations

# What makes a lane free to take, by Postgres' clock and nobody else's.
_FREE = """NOT paused AND halted_by IS NULL
      AND (lease_until IS NULL OR lease_until < now())
      AND (not_before IS NULL OR not_before <= now())"""

# As many threads as a lane worker has: where few lanes are due, each takes its share of them.
_SHARERS = 8
# The lane that the token named, then those that have waited longest. A token is only a hint: it
# does not matter whose lanes it brings.
CLAIM_DUE = f"""
WITH waiting AS (
    SELECT count(*) AS lanes FROM (
        SELECT FROM lane WHERE wake_at IS NOT NULL AND {_FREE}
        LIMIT %(most)s * {_SHARERS}) AS due),
named AS (
    SELECT agent_id, wake_at FROM lane
    WHERE agent_id = %(hint)s AND wake_at IS NOT NULL AND {_FREE}
    FOR UPDATE SKIP LOCKED),
oldest AS (
    SELECT agent_id, wake_at FROM lane
    WHERE wake_at IS NOT NULL AND {_FREE}
    ORDER BY wake_at LIMIT (SELECT greatest(1, lanes / {_SHARERS}) FROM waiting)
    FOR UPDATE SKIP LOCKED),
due AS (
    SELECT * FROM named UNION SELECT * FROM oldest),
taken AS (
    UPDATE lane
    SET fence = fence + 1, lease_owner = %(nonce)s, wake_at = NULL,
        lease_until = now() + %(lease_ms)s * interval '1 ms'
    FROM due WHERE lane.agent_id = due.agent_id
    RETURNING lane.agent_id, fence, due.wake_at)
SELECT agent_id, fence, wake_at, lanes FROM waiting LEFT JOIN taken ON true
"""  # noqa: S608 - a constant of this module
CLAIM_COMPRESS = f"""
WITH named AS (
    SELECT agent_id, compress_at FROM lane
    WHERE agent_id = %(hint)s AND compress_at IS NOT NULL AND {_FREE}
    FOR UPDATE SKIP LOCKED),
oldest AS (
    SELECT agent_id, compress_at FROM lane
    WHERE compress_at IS NOT NULL AND {_FREE}
    ORDER BY compress_at LIMIT 1 FOR UPDATE SKIP LOCKED),
due AS (
    SELECT * FROM named UNION ALL
    SELECT * FROM oldest WHERE NOT EXISTS (SELECT FROM named)),
taken AS (
    UPDATE lane
    SET fence = fence + 1, lease_owner = %(nonce)s, compress_at = NULL,
        lease_until = now() + %(lease_ms)s * interval '1 ms'
    FROM due WHERE lane.agent_id = due.agent_id
    RETURNING lane.agent_id, fence, due.compress_at)
SELECT agent_id, fence, taken.compress_at, waiting.lanes
FROM (SELECT count(*) AS lanes FROM (
          SELECT FROM lane WHERE compress_at IS NOT NULL AND {_FREE} LIMIT 1) AS due) AS waiting
LEFT JOIN taken ON true
"""  # noqa: S608 - a constant of this module
# For those who wait for a lane that is locked: a frozen process may hold it for long.
BRIEFLY = "SET LOCAL lock_timeout = '2s'"
# Lanes are due, and all of them are locked: most often one more message is being appended to an
# agent, whose token is already here. It would be the only one, so what locks is waited for; of one
# lane, and with none held, so that nobody waits for the other.
_CLAIM_LOCKED = f"""
WITH due AS (
    SELECT agent_id, {{due_at}} AS since FROM lane
    WHERE {{due_at}} IS NOT NULL AND {_FREE} AND agent_id = coalesce(
        (SELECT agent_id FROM lane
         WHERE agent_id = %(hint)s AND {{due_at}} IS NOT NULL AND {_FREE}),
        (SELECT agent_id FROM lane
         WHERE {{due_at}} IS NOT NULL AND {_FREE} ORDER BY {{due_at}} LIMIT 1))
    FOR UPDATE)
UPDATE lane
SET fence = fence + 1, lease_owner = %(nonce)s, {{due_at}} = NULL,
    lease_until = now() + %(lease_ms)s * interval '1 ms'
FROM due WHERE lane.agent_id = due.agent_id
RETURNING lane.agent_id, fence, due.since
"""  # noqa: S608 - a constant of this module
CLAIM_LOCKED_DUE = _CLAIM_LOCKED.format(due_at="wake_at")
CLAIM_LOCKED_COMPRESS = _CLAIM_LOCKED.format(due_at="compress_at")
# For an agent whose first message came over the broker: its lane is made here.
CLAIM_NAMED = """
INSERT INTO lane AS lane (agent_id, fence, lease_owner, lease_until)
VALUES (%(hint)s, 1, %(nonce)s, now() + %(lease_ms)s * interval '1 ms')
ON CONFLICT (agent_id) DO UPDATE
SET fence = lane.fence + 1, lease_owner = excluded.lease_owner,
    lease_until = excluded.lease_until, wake_at = NULL
WHERE NOT lane.paused AND lane.halted_by IS NULL
  AND (lane.lease_until IS NULL OR lane.lease_until < now())
RETURNING agent_id, fence, NULL::timestamptz
"""
# Of several lanes the locks are taken in the order of their ids, as by whoever else waits for more
# than one: in an order of chance, two that hold what the other waits for end in a deadlock.
GIVE_BACK = """
WITH back AS (
    SELECT agent_id, held.at
    FROM lane
    JOIN unnest(%s::text[], %s::bigint[], %s::uuid[], %s::timestamptz[])
         AS held (agent_id, fence, nonce, at) USING (agent_id, fence)
    WHERE lease_owner = held.nonce
    ORDER BY agent_id FOR UPDATE OF lane)
UPDATE lane SET lease_owner = NULL, lease_until = NULL, wake_at = coalesce(lane.wake_at, back.at)
FROM back WHERE lane.agent_id = back.agent_id
"""
# While a lane is locked nobody takes it over; meanwhile the other leases must not run out.
RENEW = """
WITH held AS (
    SELECT agent_id
    FROM lane JOIN unnest(%s::text[], %s::bigint[], %s::uuid[]) AS held (agent_id, fence, nonce)
         USING (agent_id, fence)
    WHERE lease_owner = held.nonce
    FOR UPDATE OF lane {unless_locked})
UPDATE lane SET lease_until = now() + %s * interval '1 ms'
FROM held WHERE lane.agent_id = held.agent_id
RETURNING lane.agent_id
"""
