"""Asking for ``memci.page.name`` (P6, P7)."""

from __future__ import annotations

from uuid import uuid4

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource
from memci.storage.erasure.gone import IS_THERE
from memci.storage.session import Database

NAME_KIND = "memci.page.name"

# Messages that are on no page yet are put onto pages by whoever looks; not ever more of them.
MOST_UNSETTLED = 100
# An interaction ends where the next one of its session begins. One job does for all that waits; one
# that has begun may have looked already.
_ASK = f"""
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
    return connection.exec_driver_sql(_ASK, values).rowcount == 1


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


def ask_again(connection: Connection, agent_id: str) -> None:
    """Queue another from within the effect of one that has not done all."""
    connection.exec_driver_sql(_AGAIN, (agent_id, uuid4(), NAME_KIND, JobSource.LANE))
