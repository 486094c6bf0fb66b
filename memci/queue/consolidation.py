"""Asking for ``memci.memory.consolidate``: by a command, by a creation, or by beat (R5)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.domain.agent import no_agent
from memci.domain.lane.job import JobSource
from memci.queue.submit import NewJob, insert_job
from memci.storage.erasure.gone import IS_AGENT, IS_THERE

CONSOLIDATE_KIND = "memci.memory.consolidate"

_WAKE = f"""
UPDATE lane SET wake_at = coalesce(wake_at, clock_timestamp())
WHERE agent_id = %s AND {IS_AGENT} RETURNING wake_at >= now()
"""  # noqa: S608 - a constant of this module
# One that has begun may have looked already.
_WAITING = """
SELECT id FROM job WHERE agent_id = %s AND state = 'queued' AND kind = %s AND started = 0
ORDER BY ordinal LIMIT 1
"""
# Whoever is asked is not asked again for an hour, whatever becomes of the job: by then it has
# noted when the next term ends.
_ASK_DUE = f"""
WITH due AS (
    SELECT agent_id FROM lane WHERE expire_at <= now() AND {IS_THERE}
    ORDER BY expire_at LIMIT %(most)s FOR UPDATE SKIP LOCKED),
woken AS (
    UPDATE lane SET expire_at = now() + interval '1 hour',
                    wake_at = coalesce(wake_at, clock_timestamp())
    FROM due WHERE lane.agent_id = due.agent_id),
asked AS (
    INSERT INTO job (agent_id, id, kind, payload, source)
    SELECT agent_id, gen_random_uuid(), %(kind)s, '{{}}', 'beat' FROM due
     WHERE NOT EXISTS (SELECT FROM job WHERE job.agent_id = due.agent_id
                          AND job.state = 'queued' AND job.kind = %(kind)s))
SELECT count(*) FROM due
"""  # noqa: S608 - a constant of this module


@dataclass(frozen=True, slots=True)
class Asked:
    """The job that will do it, whether it was waiting already, and whether to publish a token."""

    job_id: UUID
    coalesced: bool
    woken: bool


def ask(connection: Connection, agent_id: str) -> Asked:
    """Put the job into the mailbox, unless one waits; ``NotFoundError`` for no agent."""
    woken = connection.exec_driver_sql(_WAKE, (agent_id,)).scalar()
    if woken is None:
        raise no_agent(agent_id)
    return _put(connection, agent_id, JobSource.HTTP, woken=bool(woken))


def ask_next(connection: Connection, agent_id: str) -> UUID:
    """Put it into the mailbox from within the effect of another job: the lane goes on anyway."""
    return _put(connection, agent_id, JobSource.LANE, woken=False).job_id


def ask_due(connection: Connection, most: int) -> int:
    """Ask for agents that have a short term that is over, ``most`` at once; return how many.

    The longest overdue come first; lanes that somebody has locked are left for the next time.
    """
    values = {"most": most, "kind": CONSOLIDATE_KIND}
    return int(connection.exec_driver_sql(_ASK_DUE, values).scalar_one())


def _put(connection: Connection, agent_id: str, source: JobSource, *, woken: bool) -> Asked:
    waiting = connection.exec_driver_sql(_WAITING, (agent_id, CONSOLIDATE_KIND)).scalar()
    if waiting is not None:
        return Asked(waiting, coalesced=True, woken=woken)
    job = NewJob(agent_id, uuid4(), CONSOLIDATE_KIND, source)
    insert_job(connection, job)
    return Asked(job.id, coalesced=False, woken=woken)
