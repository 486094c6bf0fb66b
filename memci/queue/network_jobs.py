"""Submits the jobs of a network: consolidation, passes, rebuilds, new vectors, dropped links."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

import structlog
from sqlalchemy import Connection

from memci.domain.agent import no_agent
from memci.domain.job import JobSource, JobState
from memci.domain.memory.edition import EditionState
from memci.errors import DatabaseBusyError, NotFoundError
from memci.queue.submit import NewJob, insert_job
from memci.schemas.editions import EditionAnswer, StepJob
from memci.storage.agents import IS_AGENT, IS_THERE
from memci.storage.erasure.erase import all_beside, stand_beside
from memci.storage.network.editions import last_edition, replayed
from memci.storage.session import Database

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
class ConsolidationAsked:
    """The job that will do it, whether it was waiting already, and whether to publish a token."""

    job_id: UUID
    coalesced: bool
    woken: bool


def ask_for_consolidation(connection: Connection, agent_id: str) -> ConsolidationAsked:
    """Put the job into the mailbox, unless one waits; ``NotFoundError`` for no agent."""
    woken = connection.exec_driver_sql(_WAKE, (agent_id,)).scalar()
    if woken is None:
        raise no_agent(agent_id)
    return _put(connection, agent_id, JobSource.HTTP, woken=bool(woken))


def ask_for_next_consolidation(connection: Connection, agent_id: str) -> UUID:
    """Put it into the mailbox from within the effect of another job: the lane goes on anyway."""
    return _put(connection, agent_id, JobSource.LANE, woken=False).job_id


def ask_for_due_consolidations(connection: Connection, most: int) -> int:
    """Ask for agents that have a short term that is over, ``most`` at once; return how many.

    The longest overdue come first; lanes that somebody has locked are left for the next time.
    """
    values = {"most": most, "kind": CONSOLIDATE_KIND}
    return int(connection.exec_driver_sql(_ASK_DUE, values).scalar_one())


def _put(
    connection: Connection, agent_id: str, source: JobSource, *, woken: bool
) -> ConsolidationAsked:
    waiting = connection.exec_driver_sql(_WAITING, (agent_id, CONSOLIDATE_KIND)).scalar()
    if waiting is not None:
        return ConsolidationAsked(waiting, coalesced=True, woken=woken)
    job = NewJob(agent_id, uuid4(), CONSOLIDATE_KIND, source)
    insert_job(connection, job)
    return ConsolidationAsked(job.id, coalesced=False, woken=woken)


DROP_KIND = "memci.link.drop"

# Who notes reads waits for nobody: the lane may be in a long effect.
_EXISTS = f"SELECT FROM lane WHERE agent_id = %s AND {IS_THERE}"
_LOCK = f"{_EXISTS} FOR NO KEY UPDATE SKIP LOCKED"
# An agent that is asked the same again and again gets one job, however long its lane stands still.
_SUBMIT = """
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, %(kind)s, %(payload)s::jsonb, %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = %(kind)s
       AND payload @> %(payload)s::jsonb)
"""


def submit_drop(connection: Connection, agent_id: str, targets: Iterable[int]) -> bool:
    """Queue the removal of links to these forgotten nodes, unless a job for it waits already.

    False, and nothing is queued, while somebody else has the lane locked. It stays locked until
    the transaction ends, and the agent's queued jobs are looked through: let nothing else wait in
    this transaction. Publishes no token: nothing hurries, and the sweeper sees what waits.
    """
    if connection.exec_driver_sql(_LOCK, (agent_id,)).first() is None:
        # An agent that was erased meanwhile has no links, and gets no work (M25).
        return connection.exec_driver_sql(_EXISTS, (agent_id,)).first() is None
    values = {
        "agent": agent_id,
        "id": uuid4(),
        "kind": DROP_KIND,
        "payload": json.dumps({"targets": sorted(targets)}),
        "source": JobSource.READ,
    }
    connection.exec_driver_sql(_SUBMIT, values)
    return True


RESTORE_KIND = "memci.memory.restore"
REBUILD_KIND = "memci.memory.rebuild"

# Ids of jobs that restore a node live in this name space: asked twice, there is one job.
_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000002")
_STATE = "SELECT state FROM job WHERE agent_id = %s AND id = %s"


def submit_restore(connection: Connection, agent_id: str, payload: Mapping[str, Any]) -> UUID:
    """Queue the restoring of ``payload["node"]``; the lane must be locked.

    While such a job waits, or is dead, it stays the only one. One that has ended, and the node
    is forgotten still, is followed by another.
    """
    job_id = uuid5(_NAMESPACE, f"{agent_id}/{payload['node']}")
    state = connection.exec_driver_sql(_STATE, (agent_id, job_id)).scalar()
    if state in {JobState.DONE, JobState.CANCELLED}:
        job_id = uuid4()
    insert_job(connection, NewJob(agent_id, job_id, RESTORE_KIND, JobSource.HTTP, payload=payload))
    return job_id


def submit_step(
    connection: Connection, agent_id: str, number: int, source: JobSource = JobSource.LANE
) -> UUID:
    """Queue the next step of the rebuild of an edition; the lane must be locked."""
    payload = {"edition": number}
    job = NewJob(agent_id, uuid4(), REBUILD_KIND, source, payload=payload)
    insert_job(connection, job)
    return job.id


# The job of the last step: queued, or dead.
_JOB = """
SELECT id, state, last_error FROM job
WHERE agent_id = %s AND kind = %s AND state IN ('queued', 'dead')
AND payload->>'edition' = %s::bigint::text ORDER BY ordinal DESC LIMIT 1
"""


def step_job(connection: Connection, agent_id: str, number: int) -> StepJob | None:
    """Return the job that is to take an edition further."""
    row = connection.exec_driver_sql(_JOB, (agent_id, REBUILD_KIND, number)).first()
    return None if row is None else StepJob(id=row[0], state=JobState(row[1]), error=row[2])


def edition_answer(connection: Connection, agent_id: str) -> EditionAnswer:
    """Tell of the agent's last edition; ``NotFoundError``: there never was one."""
    known = last_edition(connection, agent_id)
    if known is None:
        raise NotFoundError("nothing was ever rebuilt for this agent: begin a rebuild first")
    edition = known.edition
    is_open = edition.state not in {EditionState.SWITCHED, EditionState.DROPPED}
    done, events = replayed(connection, agent_id, edition) if is_open else (None, None)
    return EditionAnswer(
        agent_id=agent_id,
        edition=edition.number,
        state=edition.state,
        up_to_seq=edition.up_to_seq,
        replayed=done,
        events=events,
        job=step_job(connection, agent_id, edition.number) if is_open else None,
        created_at=known.created_at,
        finished_at=known.finished_at,
    )


_log = structlog.get_logger(__name__)

# A collection has no network (R9).
_DUE = f"""{IS_THERE} AND NOT starts_with(agent_id, 'collection/')
      AND greatest(written_at, read_at) > coalesce(beat_at, '-infinity')
      AND coalesce(beat_at, '-infinity') <= now() - %(quiet_s)s * interval '1 second'"""
# Whoever has a pass waiting already gets no second one.
_ASK = """
SET beat_at = now(), compress_req = CASE WHEN compress_req > compress_done THEN compress_req
                                         ELSE compress_req + 1 END
"""
# In the order of ids, so that the bites together walk once through the lanes.
_ACTIVE = f"""
WITH due AS (
    SELECT agent_id FROM lane WHERE agent_id > %(after)s AND {_DUE}
    ORDER BY agent_id LIMIT %(most)s FOR UPDATE SKIP LOCKED),
asked AS (
    UPDATE lane {_ASK} FROM due WHERE lane.agent_id = due.agent_id RETURNING lane.agent_id)
SELECT agent_id FROM asked ORDER BY agent_id
"""  # noqa: S608 - a constant of this module
_LEFT = f"SELECT agent_id FROM lane WHERE {_DUE}"  # noqa: S608 - a constant of this module
_BRIEFLY = "SET LOCAL lock_timeout = '2s'"
_ONE = f"UPDATE lane {_ASK} WHERE agent_id = %(agent_id)s AND {_DUE}"
# A lane that somebody holds is not idle.
_IDLE = """
WITH due AS (
    SELECT agent_id FROM lane
    WHERE compress_req = compress_done AND pass_number > 0
      AND coalesce(beat_at, '-infinity') <= now() - %s * interval '1 second'
    FOR UPDATE SKIP LOCKED)
UPDATE lane SET beat_at = now(), compress_req = compress_req + 1
FROM due WHERE lane.agent_id = due.agent_id
"""


def ask_for_active(connection: Connection, *, quiet_s: float, after: str, most: int) -> list[str]:
    """Ask for one pass for agents that were written to or read since beat last did.

    They are the first so many behind ``after``, in the order of their ids, of those whose lanes
    nobody has locked; beat asked for none of them in the last ``quiet_s``. Returns them in order.
    """
    values = {"quiet_s": quiet_s, "after": after, "most": most}
    return list(connection.exec_driver_sql(_ACTIVE, values).scalars())


def left_active(connection: Connection, *, quiet_s: float) -> list[str]:
    """Return those for whom ``ask_for_active`` would still ask."""
    return list(connection.exec_driver_sql(_LEFT, {"quiet_s": quiet_s}).scalars())


def ask_for_one(database: Database, agent_id: str, *, quiet_s: float) -> int:
    """Ask as ``ask_for_active`` does, but wait for the lane, two seconds at most.

    In a transaction of its own: whoever waits holds no other lane. Returns how many were asked
    for; none when the lane was locked for longer.
    """
    values = {"agent_id": agent_id, "quiet_s": quiet_s}
    try:
        with database.upkeep_transaction() as connection:
            connection.exec_driver_sql(_BRIEFLY)
            return connection.exec_driver_sql(_ONE, values).rowcount
    except DatabaseBusyError:
        _log.info("pass not asked for: the lane is busy", agent_id=agent_id)
        return 0


def ask_for_idle(connection: Connection, *, quiet_s: float) -> int:
    """Ask for one pass for every agent with a network and no pass that waits."""
    return connection.exec_driver_sql(_IDLE, (quiet_s,)).rowcount


REEMBED_KIND = "memci.vector.reembed"

_REEMBEDDING_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000009")
_AGENTS = "SELECT agent_id FROM lane WHERE agent_id > %s ORDER BY agent_id LIMIT %s"
# No lane is locked: the sweeper wakes whoever has a job. Who was erased gets none (M25).
_SUBMIT_REEMBEDDING = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT agent_id, id, %s, '{{}}', %s
FROM unnest(%s::text[], %s::uuid[]) AS new(agent_id, id) JOIN lane USING (agent_id)
WHERE {IS_THERE} ON CONFLICT (agent_id, id) DO NOTHING
"""  # noqa: S608 - a constant of this module
_LEFT_TO_REEMBED = """
SELECT count(DISTINCT agent_id) FILTER (WHERE state = 'queued'),
       count(DISTINCT agent_id) FILTER (WHERE state = 'dead')
FROM job WHERE state IN ('queued', 'dead') AND kind = %s
"""


@dataclass(frozen=True, slots=True)
class ReembeddingLeft:
    """Agents whose vectors are still to be made anew, and those whose job for it is dead."""

    queued: int
    dead: int


@dataclass(frozen=True, slots=True)
class ReembeddingAsked:
    """How many were asked now; ``last``: the last one looked at, '' when there are no more.

    ``erasing``: something of them is being erased right now; they are to be asked one by one.
    """

    count: int
    last: str
    erasing: Sequence[str] = ()


def ask_agents_to_reembed(
    connection: Connection, change: int, *, after: str, most: int
) -> ReembeddingAsked:
    """Ask the next agents by id for new vectors, each once for one change of the model."""
    agents = list(connection.exec_driver_sql(_AGENTS, (after, most)).scalars())
    if not agents:
        return ReembeddingAsked(0, "")
    free = all_beside(connection, agents)
    erasing = [each for each in agents if each not in free]
    return ReembeddingAsked(_submit(connection, change, sorted(free)), agents[-1], erasing)


def ask_agent_to_reembed(connection: Connection, change: int, agent_id: str) -> int:
    """Ask one, after an erasure that is under way; return how many were asked."""
    stand_beside(connection, agent_id)
    return _submit(connection, change, [agent_id])


def _submit(connection: Connection, change: int, agents: Sequence[str]) -> int:
    """Queue the jobs of those that are there; who erases has to wait for this transaction."""
    ids = [uuid5(_REEMBEDDING_NAMESPACE, f"{change}\0{agent_id}") for agent_id in agents]
    values = (REEMBED_KIND, JobSource.REEMBED, list(agents), ids)
    return connection.exec_driver_sql(_SUBMIT_REEMBEDDING, values).rowcount


def reembedding_left(connection: Connection) -> ReembeddingLeft:
    """Count the agents that have not got all their new vectors; any transaction will do."""
    return ReembeddingLeft(*connection.exec_driver_sql(_LEFT_TO_REEMBED, (REEMBED_KIND,)).one())
