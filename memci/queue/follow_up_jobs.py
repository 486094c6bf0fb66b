"""Submits the jobs that follow messages: naming pages, summaries, tracking, indexing.

A job names its session by one of its messages. While one waits that has not begun, there is no
second one for its session; one that has begun may have looked already.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.domain.job import JobSource
from memci.queue.submit import NewJob, insert_job, lock_lane, unlock_lane
from memci.storage.agents import IS_THERE
from memci.storage.session import Database

NAME_KIND = "memci.page.name"

# Messages that are on no page yet are put onto pages by whoever looks; not ever more of them.
MOST_UNSETTLED = 100
# An interaction ends where the next one of its session begins. One job does for all that waits; one
# that has begun may have looked already.
_ASK_NAMING = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, '{NAME_KIND}', '{{}}', %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = '{NAME_KIND}'
        AND started = 0)
AND (EXISTS (
    SELECT FROM message AS asked
    WHERE agent_id = %(agent)s AND seq BETWEEN %(first)s AND %(last)s AND role = 'user' AND (
        EXISTS (SELECT FROM message AS before WHERE before.agent_id = %(agent)s
            AND before.session_id = asked.session_id AND before.seq < asked.seq)
        OR asked.session_id IS NULL AND EXISTS (
            SELECT FROM message AS before WHERE before.agent_id = %(agent)s
            AND before.session_id IS NULL AND before.seq < asked.seq)))
  OR %(last)s - coalesce((SELECT settled_seq FROM page_tree WHERE agent_id = %(agent)s), 0)
     > {MOST_UNSETTLED})
"""  # noqa: S608 - constants of this module
# Whoever looks waits for nobody: of a lane that is locked the next one to look may ask.
_ASK_OF_IDLE = f"""
WITH idle AS (
    SELECT agent_id FROM lane WHERE agent_id = %(agent)s AND {IS_THERE}
        AND NOT EXISTS (SELECT FROM job WHERE job.agent_id = %(agent)s AND state = 'queued'
            AND kind = '{NAME_KIND}')
    FOR UPDATE SKIP LOCKED),
woken AS (
    UPDATE lane SET wake_at = coalesce(wake_at, clock_timestamp())
    FROM idle WHERE lane.agent_id = idle.agent_id)
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT agent_id, %(id)s, '{NAME_KIND}', '{{}}', %(source)s FROM idle
"""  # noqa: S608 - constants of this module
_AGAIN = """
INSERT INTO job (agent_id, id, kind, payload, source) VALUES (%s, %s, %s, '{}', %s)
"""


def ask_naming(connection: Connection, agent_id: str, first_seq: int, last_seq: int) -> bool:
    """Queue the job if these messages give it something to do and none waits; tell whether so.

    In the effect of the job that these messages came with: the lane goes on anyway.
    """
    values = {
        "agent": agent_id,
        "id": uuid4(),
        "source": JobSource.LANE,
        "first": first_seq,
        "last": last_seq,
    }
    return connection.exec_driver_sql(_ASK_NAMING, values).rowcount == 1


def ask_where_many_wait(database: Database, agent_id: str, waiting: int) -> bool:
    """Queue the job where so many messages wait that looking is dear, unless one is queued.

    For who looks: an agent to which nobody says anything, as after an upgrade, has no other job
    that would ask. The sweeper wakes a worker. Tells whether it was asked for.
    """
    if waiting <= MOST_UNSETTLED:
        return False
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.HTTP}
    with database.agent_transaction(agent_id, durable=False) as connection:
        return connection.exec_driver_sql(_ASK_OF_IDLE, values).rowcount == 1


def ask_naming_again(connection: Connection, agent_id: str) -> None:
    """Queue another from within the effect of one that has not done all."""
    connection.exec_driver_sql(_AGAIN, (agent_id, uuid4(), NAME_KIND, JobSource.LANE))


SUMMARISE_KIND = "memci.session.summarise"

_WAITS = f"""
EXISTS (SELECT FROM job JOIN message AS named ON named.agent_id = job.agent_id
         AND named.seq = (job.payload->'seqs'->>0)::bigint
       WHERE job.agent_id = %(agent)s AND job.state = 'queued' AND job.kind = '{SUMMARISE_KIND}'
         AND job.started = 0 AND coalesce(named.session_id, '') = {{session}}
         AND (job.payload->'now' = 'true'::jsonb OR NOT %(now)s::boolean))
"""
_INSERT = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, gen_random_uuid(), '{SUMMARISE_KIND}', jsonb_build_object(
           'seqs', jsonb_build_array({{seq}}), 'now', %(now)s::boolean), %(source)s
"""
_SAID = """
SELECT coalesce(session_id, '') AS session, max(seq) AS last, bool_or(role = 'user') AS asks
  FROM message
 WHERE agent_id = %(agent)s AND seq BETWEEN %(first)s AND %(last)s GROUP BY 1
"""
_BEGIN = f"""
WITH said AS ({_SAID}),
opened AS (
    INSERT INTO summary (agent_id, session_id, user_id) SELECT %(agent)s, session, '' FROM said
    ON CONFLICT DO NOTHING RETURNING session_id),
again AS (
    UPDATE summary SET final = false FROM said
     WHERE agent_id = %(agent)s AND session_id = said.session AND user_id = ''
       AND final AND said.last > through_seq RETURNING session_id)
SELECT count(*) FILTER (WHERE session_id <> '')
  FROM (SELECT session_id FROM opened UNION ALL SELECT session_id FROM again) AS begun
"""  # noqa: S608 - constants of this module
# The earliest time counts; unchanged where that is known, so that no index is written.
_ENDS = """
UPDATE lane SET expire_at = least(expire_at, %(end)s::timestamptz)
WHERE agent_id = %(agent)s AND coalesce(expire_at > %(end)s, true)
"""
_SILENT = """
UPDATE lane SET expire_at = least(expire_at, now() + %(silence)s)
WHERE agent_id = %(agent)s
"""
# No token has less than a byte: what cannot be too long is not counted exactly, by a job, and what
# was counted once is not counted again. Each message has four at least, so that after so many there
# is nothing left to add up; most often it ends before. Ordered as the index is, session and all.
_SO_MANY = "%(threshold)s::bigint / 4 + 1"
_GREW = f"""
(s.counted_tokens > %(threshold)s OR EXISTS (SELECT FROM (
    SELECT sum(octet_length(coalesce(m.content, ''))
               + octet_length(coalesce(m.tool_calls::text, '')) + 4)
               OVER (ORDER BY m.session_id, m.seq ROWS UNBOUNDED PRECEDING) AS total
      FROM message m WHERE m.agent_id = %(agent)s AND m.session_id {{session}}
       AND m.seq > greatest(s.counted_seq, s.through_seq)
     ORDER BY m.session_id, m.seq LIMIT {_SO_MANY}) running
     WHERE running.total > %(threshold)s - s.counted_tokens))
"""  # noqa: S608 - a constant of this module
# The latest interactions are summed up by nobody: where nothing was said before them since the last
# summary, there is nothing to do, however long they are. That changes when a user says something;
# otherwise only so many messages are looked at as there can be when they grow too long.
_HAS_EARLIER = f"""
EXISTS (SELECT FROM message m WHERE m.agent_id = %(agent)s AND m.session_id {{session}}
           AND m.seq > s.through_seq AND (%(preserved)s = 0 OR m.seq < (
               SELECT newest.seq FROM (
                   SELECT session_id, seq, role FROM message
                    WHERE agent_id = %(agent)s AND session_id {{session}} AND seq > s.through_seq
                    ORDER BY session_id DESC, seq DESC
                    LIMIT CASE WHEN said.asks THEN NULL ELSE {_SO_MANY} END) newest
                WHERE newest.role = 'user' ORDER BY newest.session_id DESC, newest.seq DESC
               OFFSET greatest(%(preserved)s - 1, 0) LIMIT 1)))
"""  # noqa: S608 - a constant of this module
_IS_LONG = f"CASE WHEN {_GREW} THEN {_HAS_EARLIER} ELSE false END"
_ASK_LONG = f"""
WITH said AS MATERIALIZED ({_SAID}),
long AS MATERIALIZED (
    SELECT said.* FROM said JOIN summary s
      ON s.agent_id = %(agent)s AND s.session_id = said.session AND s.user_id = ''
    WHERE CASE WHEN said.session = '' THEN {_IS_LONG.format(session="IS NULL")}
          ELSE {_IS_LONG.format(session="= said.session")} END)
{_INSERT.format(seq="long.last")}
FROM long WHERE NOT {_WAITS.format(session="long.session")}
"""  # noqa: S608 - constants of this module
_LAST = """
SELECT seq FROM message WHERE agent_id = %(agent)s AND {session} ORDER BY seq DESC LIMIT 1
"""
_ASK_SUMMARY = f"""
{_INSERT.format(seq="last.seq")}
FROM (SELECT max(seq) AS seq FROM (
    ({_LAST.format(session="session_id = nullif(%(session)s::text, '')")}) UNION ALL
    ({_LAST.format(session="%(session)s::text = '' AND session_id IS NULL")})) AS either) AS last
WHERE last.seq IS NOT NULL AND NOT {_WAITS.format(session="%(session)s")}
"""  # noqa: S608 - constants of this module
# Whoever looks waits for nobody: of a lane that is locked the next one to look may ask.
_LOCK_IDLE = f"""
SELECT FROM lane WHERE agent_id = %(agent)s AND {IS_THERE} FOR UPDATE SKIP LOCKED
"""
_WAKE = """
UPDATE lane SET wake_at = coalesce(wake_at, clock_timestamp()) WHERE agent_id = %(agent)s
"""
_WAITING = f"SELECT {_WAITS.format(session='%(session)s')}"


def begin_sessions(
    connection: Connection, agent_id: str, first_seq: int, last_seq: int, *, silence: timedelta
) -> None:
    """Note that something was said in these messages' sessions, and when silence ends them.

    In the effect of the job that these messages came with.
    """
    values = {"agent": agent_id, "first": first_seq, "last": last_seq, "silence": silence}
    if connection.exec_driver_sql(_BEGIN, values).scalar_one():
        connection.exec_driver_sql(_SILENT, values)


def ask_where_long(
    connection: Connection,
    agent_id: str,
    first_seq: int,
    last_seq: int,
    *,
    threshold: int,
    preserved: int,
) -> int:
    """Queue a job for each session of these messages that may have grown by so many tokens.

    Beyond its last summary; the job counts exactly. ``preserved``: so many of the latest
    interactions stay out of summaries; where there are no others, nothing is asked. In an effect:
    the lane goes on anyway. Returns how many were queued.
    """
    values = {
        "agent": agent_id,
        "first": first_seq,
        "last": last_seq,
        "threshold": threshold,
        "preserved": preserved,
        "now": False,
        "source": JobSource.LANE,
    }
    return connection.exec_driver_sql(_ASK_LONG, values).rowcount


def ask_for(
    connection: Connection,
    agent_id: str,
    sessions: Iterable[str | None],
    *,
    now: bool = False,
    source: JobSource = JobSource.LANE,
) -> int:
    """Queue a job for each of these sessions (None: what was said in none); return how many.

    ``now``: there is to be a summary, however little was said. The lane must be locked.
    """
    values = {"agent": agent_id, "now": now, "source": source}
    return sum(
        connection.exec_driver_sql(_ASK_SUMMARY, {**values, "session": session or ""}).rowcount
        for session in sessions
    )


def ask_summary(database: Database, agent_id: str, session_id: str | None) -> bool:
    """Queue a job that sums up a session now, unless one waits; tell whether it was queued.

    For who reads and found no summary where one was wanted (R15): reads wait for nobody, so while
    somebody else has the lane locked nothing is asked. The sweeper wakes a worker.
    """
    values = {"agent": agent_id, "session": session_id or "", "now": True}
    with database.agent_snapshot(agent_id) as connection:
        if connection.exec_driver_sql(_WAITING, values).scalar_one():
            return False
    with database.agent_transaction(agent_id, durable=False) as connection:
        if connection.exec_driver_sql(_LOCK_IDLE, values).first() is None:
            return False
        asked = ask_for(connection, agent_id, [session_id], now=True, source=JobSource.READ)
        if asked:
            connection.exec_driver_sql(_WAKE, values)
        return bool(asked)


def note_silence(connection: Connection, agent_id: str, end: datetime) -> None:
    """Let upkeep look again when the next session ends by silence, at this time."""
    connection.exec_driver_sql(_ENDS, {"agent": agent_id, "end": end})


TRACK_KIND = "memci.message.track"

# One job does for all that waits; one that has begun may have looked already.
_ASK_TRACKING = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, '{TRACK_KIND}', '{{}}', %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = '{TRACK_KIND}'
        AND started = 0)
"""  # noqa: S608 - constants of this module


def ask_tracking(connection: Connection, agent_id: str) -> bool:
    """Queue the job unless one waits; tell whether so.

    In the effect of a job, of the one that messages came with or of one that has not done all: the
    lane goes on anyway.
    """
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.LANE}
    return connection.exec_driver_sql(_ASK_TRACKING, values).rowcount == 1


ITEM_INDEX = "memci.item.index"

# One that has begun may have looked already.
_ASK_ITEM_INDEXING = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, '{ITEM_INDEX}', '{{}}', %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = '{ITEM_INDEX}'
        AND started = 0)
"""  # noqa: S608 - a constant of this module
# Whoever reads waits for nobody: of a lane that is locked the next one to look may ask.
_ASK_ITEM_INDEXING_OF_IDLE = f"""
WITH idle AS (
    SELECT agent_id FROM lane WHERE agent_id = %(agent)s AND {IS_THERE}
        AND NOT EXISTS (SELECT FROM job WHERE job.agent_id = %(agent)s AND state = 'queued'
            AND kind = '{ITEM_INDEX}')
    FOR UPDATE SKIP LOCKED),
woken AS (
    UPDATE lane SET wake_at = coalesce(wake_at, clock_timestamp())
    FROM idle WHERE lane.agent_id = idle.agent_id)
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT agent_id, %(id)s, '{ITEM_INDEX}', '{{}}', %(source)s FROM idle
"""  # noqa: S608 - constants of this package


def ask_indexing(connection: Connection, agent_id: str) -> bool:
    """Queue the job unless one waits; tell whether a token has to be published after COMMIT."""
    woken, _ = lock_lane(connection, agent_id)
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.HTTP}
    asked = connection.exec_driver_sql(_ASK_ITEM_INDEXING, values).rowcount == 1
    if not asked:
        unlock_lane(connection, agent_id, woken=woken)
    return asked and woken


def ask_indexing_again(connection: Connection, agent_id: str) -> None:
    """Queue another from within the effect of one that has not done all."""
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.LANE}
    connection.exec_driver_sql(_ASK_ITEM_INDEXING, values)


def ask_indexing_of_idle(database: Database, agent_id: str) -> None:
    """Queue the job for items that nobody has asked it for, as after an import.

    The sweeper wakes a worker.
    """
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.HTTP}
    with database.agent_transaction(agent_id, durable=False) as connection:
        connection.exec_driver_sql(_ASK_ITEM_INDEXING_OF_IDLE, values)


DOCUMENT_KIND = "memci.document.index"


def submit_document(
    connection: Connection, owner: str, job_id: UUID, document_id: int, traceparent: str | None
) -> None:
    """Queue it; the lane must be locked."""
    payload = {"document": document_id}
    job = NewJob(
        owner, job_id, DOCUMENT_KIND, JobSource.HTTP, payload=payload, traceparent=traceparent
    )
    insert_job(connection, job)
