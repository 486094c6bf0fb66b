"""Requests for session summaries (R8): after messages, after the end of a session, by a read.

A job names its session by the seq of one of its messages. While one waits that has not begun,
there is no second one for its session; one that has begun may have read the messages already.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import Connection

from memci.domain.job import JobKind, JobSource
from memci.queue import mailbox
from memci.storage.session import Database

_WAITS = f"""
EXISTS (SELECT FROM job JOIN message AS named ON named.agent_id = job.agent_id
         AND named.seq = (job.payload->'seqs'->>0)::bigint
       WHERE job.agent_id = %(agent)s AND job.state = 'queued' AND job.kind = '{JobKind.SUMMARISE}'
         AND job.started = 0 AND coalesce(named.session_id, '') = {{session}}
         AND (job.payload->'now' = 'true'::jsonb OR NOT %(now)s::boolean))
"""
_INSERT = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, gen_random_uuid(), '{JobKind.SUMMARISE}', jsonb_build_object(
           'seqs', jsonb_build_array({{seq}}), 'now', %(now)s::boolean), %(source)s
"""
_SESSIONS = """
SELECT coalesce(session_id, '') AS session, max(seq) AS last, bool_or(role = 'user') AS asks
  FROM message
 WHERE agent_id = %(agent)s AND seq BETWEEN %(first)s AND %(last)s GROUP BY 1
"""
_BEGIN = f"""
WITH spoken AS ({_SESSIONS}),
opened AS (
    INSERT INTO summary (agent_id, session_id, user_id) SELECT %(agent)s, session, '' FROM spoken
    ON CONFLICT DO NOTHING RETURNING session_id),
again AS (
    UPDATE summary SET final = false FROM spoken
     WHERE agent_id = %(agent)s AND session_id = spoken.session AND user_id = ''
       AND final AND spoken.last > through_seq RETURNING session_id)
SELECT count(*) FILTER (WHERE session_id <> '')
  FROM (SELECT session_id FROM opened UNION ALL SELECT session_id FROM again) AS begun
"""  # noqa: S608 - constants of this module
# The earliest time counts. The row stays as it is where that is known, so that no index is written.
_ENDS = """
UPDATE lane SET expire_at = least(expire_at, %(end)s::timestamptz)
WHERE agent_id = %(agent)s AND coalesce(expire_at > %(end)s, true)
"""
_SILENT = """
UPDATE lane SET expire_at = least(expire_at, now() + %(silence)s)
WHERE agent_id = %(agent)s
"""
# A token has at least a byte, so sessions that cannot be too long need no job that counts exactly;
# what was counted once is not counted again. A message has at least four tokens, so the sum ends
# after so many messages. Ordered as the index is, session and all.
_MAX_MESSAGES = "%(threshold)s::bigint / 4 + 1"
_GREW = f"""
(s.counted_tokens > %(threshold)s OR EXISTS (SELECT FROM (
    SELECT sum(octet_length(coalesce(m.content, ''))
               + octet_length(coalesce(m.tool_calls::text, '')) + 4)
               OVER (ORDER BY m.session_id, m.seq ROWS UNBOUNDED PRECEDING) AS total
      FROM message m WHERE m.agent_id = %(agent)s AND m.session_id {{session}}
       AND m.seq > greatest(s.counted_seq, s.through_seq)
     ORDER BY m.session_id, m.seq LIMIT {_MAX_MESSAGES}) running
     WHERE running.total > %(threshold)s - s.counted_tokens))
"""  # noqa: S608 - a constant of this module
# The latest interactions are left out of summaries: where no message since the last summary comes
# before them, there is nothing to do, however long they are. That changes only when a user says
# something; without it, no more messages are read than a session can hold before it is too long.
_HAS_EARLIER = f"""
EXISTS (SELECT FROM message m WHERE m.agent_id = %(agent)s AND m.session_id {{session}}
           AND m.seq > s.through_seq AND (%(preserved)s = 0 OR m.seq < (
               SELECT newest.seq FROM (
                   SELECT session_id, seq, role FROM message
                    WHERE agent_id = %(agent)s AND session_id {{session}} AND seq > s.through_seq
                    ORDER BY session_id DESC, seq DESC
                    LIMIT CASE WHEN spoken.asks THEN NULL ELSE {_MAX_MESSAGES} END) newest
                WHERE newest.role = 'user' ORDER BY newest.session_id DESC, newest.seq DESC
               OFFSET greatest(%(preserved)s - 1, 0) LIMIT 1)))
"""  # noqa: S608 - a constant of this module
_IS_LONG = f"CASE WHEN {_GREW} THEN {_HAS_EARLIER} ELSE false END"
_REQUEST_LONG = f"""
WITH spoken AS MATERIALIZED ({_SESSIONS}),
long AS MATERIALIZED (
    SELECT spoken.* FROM spoken JOIN summary s
      ON s.agent_id = %(agent)s AND s.session_id = spoken.session AND s.user_id = ''
    WHERE CASE WHEN spoken.session = '' THEN {_IS_LONG.format(session="IS NULL")}
          ELSE {_IS_LONG.format(session="= spoken.session")} END)
{_INSERT.format(seq="long.last")}
FROM long WHERE NOT {_WAITS.format(session="long.session")}
"""  # noqa: S608 - constants of this module
_LAST = """
SELECT seq FROM message WHERE agent_id = %(agent)s AND {session} ORDER BY seq DESC LIMIT 1
"""
_REQUEST = f"""
{_INSERT.format(seq="last.seq")}
FROM (SELECT max(seq) AS seq FROM (
    ({_LAST.format(session="session_id = nullif(%(session)s::text, '')")}) UNION ALL
    ({_LAST.format(session="%(session)s::text = '' AND session_id IS NULL")})) AS either) AS last
WHERE last.seq IS NOT NULL AND NOT {_WAITS.format(session="%(session)s")}
"""  # noqa: S608 - constants of this module
_IS_WAITING = f"SELECT {_WAITS.format(session='%(session)s')}"


def begin_sessions(
    connection: Connection, agent_id: str, first_seq: int, last_seq: int, *, silence: timedelta
) -> None:
    """Note that the sessions of these messages continue, and when silence ends them.

    In the effect of the job that these messages came with.
    """
    values = {"agent": agent_id, "first": first_seq, "last": last_seq, "silence": silence}
    if connection.exec_driver_sql(_BEGIN, values).scalar_one():
        connection.exec_driver_sql(_SILENT, values)


def request_where_long(
    connection: Connection, agent_id: str, seqs: tuple[int, int], *, threshold: int, preserved: int
) -> int:
    """Submit a job for each of their sessions that may have grown by ``threshold`` tokens.

    ``seqs``: the first and the last. The job counts exactly, from the last summary on. The latest
    ``preserved`` interactions stay out of summaries; where there are no others, nothing is
    submitted. In the effect of a job. Returns how many were submitted.
    """
    values = {
        "agent": agent_id,
        "first": seqs[0],
        "last": seqs[1],
        "threshold": threshold,
        "preserved": preserved,
        "now": False,
        "source": JobSource.LANE,
    }
    return connection.exec_driver_sql(_REQUEST_LONG, values).rowcount


def request_summaries(
    connection: Connection,
    agent_id: str,
    sessions: Iterable[str | None],
    *,
    now: bool = False,
    source: JobSource = JobSource.LANE,
) -> int:
    """Submit a job for each session (None: messages without one); return how many.

    ``now``: write a summary however little was said. The lane must be locked.
    """
    values = {"agent": agent_id, "now": now, "source": source}
    return sum(
        connection.exec_driver_sql(_REQUEST, {**values, "session": session or ""}).rowcount
        for session in sessions
    )


def request_summary(database: Database, agent_id: str, session_id: str | None) -> bool:
    """Submit a job that sums up a session now, unless one waits; return True if submitted.

    For a read that found no summary where one was wanted (R15). Reads wait for no lock: while the
    lane is locked nothing is submitted. The sweep wakes a worker.
    """
    values = {"agent": agent_id, "session": session_id or "", "now": True}
    with database.agent_snapshot(agent_id) as connection:
        if connection.exec_driver_sql(_IS_WAITING, values).scalar_one():
            return False
    with database.agent_transaction(agent_id, durable=False) as connection:
        if not mailbox.lock_idle(connection, agent_id):
            return False
        source = JobSource.READ
        count = request_summaries(connection, agent_id, [session_id], now=True, source=source)
        if count:
            mailbox.mark_woken(connection, agent_id)
        return bool(count)


def note_next_silence(connection: Connection, agent_id: str, end: datetime) -> None:
    """Let upkeep look again when the next session ends by silence, at this time."""
    connection.exec_driver_sql(_ENDS, {"agent": agent_id, "end": end})
