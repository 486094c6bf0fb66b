"""Requests for jobs beside those of new messages: pages, items, consolidation, restoring, vectors.

A request that comes while an equal job waits is the same request. A read waits for no lock: where
the lane is locked, nothing is submitted, and the next read may do it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

from sqlalchemy import Connection

from memci.domain.job import JobKind, JobSource, JobState
from memci.domain.memory.network_edition import EditionState
from memci.errors import NotFoundError
from memci.queue import mailbox
from memci.schemas.network_editions import EditionAnswer, StepJob
from memci.storage.agents import IS_THERE, is_there
from memci.storage.erasure.erase import agents_without_erasure, wait_for_erasure
from memci.storage.network.network_editions import last_edition, replayed
from memci.storage.session import Database

# Each read of the tree puts messages without a page onto pages, up to this number.
MAX_UNSETTLED = 100
# An interaction ends where the next one of its session begins.
_REQUEST_NAMING = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, '{JobKind.NAME_PAGES}', '{{}}', %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued'
        AND kind = '{JobKind.NAME_PAGES}' AND started = 0)
AND (EXISTS (
    SELECT FROM message AS asked
    WHERE asked.agent_id = %(agent)s AND asked.seq BETWEEN %(first)s AND %(last)s
        AND asked.role = 'user' AND (
        EXISTS (SELECT FROM message AS before WHERE before.agent_id = %(agent)s
            AND before.session_id = asked.session_id AND before.seq < asked.seq)
        OR asked.session_id IS NULL AND EXISTS (
            SELECT FROM message AS before WHERE before.agent_id = %(agent)s
            AND before.session_id IS NULL AND before.seq < asked.seq)))
  OR %(last)s - coalesce((SELECT settled_seq FROM page_tree WHERE agent_id = %(agent)s), 0)
     > {MAX_UNSETTLED})
"""  # noqa: S608 - constants of this module


def request_naming(connection: Connection, agent_id: str, first_seq: int, last_seq: int) -> bool:
    """Submit the job that names pages if these messages end an interaction and none waits.

    In the effect of the job that these messages came with. Returns True if submitted.
    """
    values = {
        "agent": agent_id,
        "id": uuid4(),
        "source": JobSource.LANE,
        "first": first_seq,
        "last": last_seq,
    }
    return connection.exec_driver_sql(_REQUEST_NAMING, values).rowcount == 1


def request_naming_by_read(database: Database, agent_id: str, unsettled: int) -> bool:
    """Submit the job that names pages if many unsettled messages make reads slow.

    An agent without new messages, as after an upgrade, has no other job that would request it.
    Returns True if submitted.
    """
    return unsettled > MAX_UNSETTLED and _submit_of_read(database, agent_id, JobKind.NAME_PAGES)


def request_indexing_by_read(database: Database, agent_id: str) -> None:
    """Submit the job that indexes items, such as after an import, which does not request it."""
    _submit_of_read(database, agent_id, JobKind.INDEX_ITEMS)


def _submit_of_read(database: Database, agent_id: str, kind: str) -> bool:
    """Submit a job unless one waits or the lane is locked; the sweep wakes a worker."""
    with database.agent_transaction(agent_id, durable=False) as connection:
        if not mailbox.lock_idle(connection, agent_id):
            return False
        _, is_new = mailbox.submit_once(connection, agent_id, kind, JobSource.HTTP)
        if is_new:
            mailbox.mark_woken(connection, agent_id)
        return is_new


def request_indexing(connection: Connection, agent_id: str) -> bool:
    """Submit the job that indexes items; return whether to publish a wakeup after COMMIT."""
    woken, _ = mailbox.lock_lane(connection, agent_id)
    _, is_new = mailbox.submit_once(connection, agent_id, JobKind.INDEX_ITEMS, JobSource.HTTP)
    if not is_new:
        mailbox.unlock_lane(connection, agent_id, woken=woken)
    return is_new and woken


def request_link_drop(connection: Connection, agent_id: str, targets: Iterable[int]) -> bool:
    """Submit the removal of links to these forgotten nodes (M15).

    Returns False, with nothing submitted, while the lane is locked. Keeps the lane locked until
    the transaction ends, so nothing else may wait in it. Publishes no wakeup: the sweep does.
    """
    if not mailbox.lock_idle(connection, agent_id):
        # An agent that was erased meanwhile has no links, and gets no work (M25).
        return not is_there(connection, agent_id)
    payload = {"targets": sorted(targets)}
    mailbox.submit_once(connection, agent_id, JobKind.DROP_LINKS, JobSource.READ, payload)
    return True


@dataclass(frozen=True, slots=True)
class ConsolidationRequest:
    """A request for consolidation."""

    job_id: UUID
    coalesced: bool  # the job was waiting already
    woken: bool  # publish a wakeup after COMMIT


def request_consolidation(connection: Connection, agent_id: str) -> ConsolidationRequest:
    """Submit the job unless one waits; ``NotFoundError`` for no agent."""
    woken = mailbox.lock_agent(connection, agent_id)
    kind, source = JobKind.CONSOLIDATE, JobSource.HTTP
    job_id, is_new = mailbox.submit_once(connection, agent_id, kind, source)
    return ConsolidationRequest(job_id, coalesced=not is_new, woken=woken)


# Jobs that restore a node have ids of this name space: requested twice, there is one job.
_RESTORE_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000002")
_STATE = "SELECT state FROM job WHERE agent_id = %s AND id = %s"


def request_restore(connection: Connection, agent_id: str, payload: Mapping[str, Any]) -> UUID:
    """Submit the restoring of ``payload["node"]``; the lane must be locked. Returns the job's id.

    While such a job waits, or is dead, it stays the only one. After one that has ended, a node
    that is still forgotten gets another.
    """
    job_id = uuid5(_RESTORE_NAMESPACE, f"{agent_id}/{payload['node']}")
    state = connection.exec_driver_sql(_STATE, (agent_id, job_id)).scalar()
    if state in {JobState.DONE, JobState.CANCELLED}:
        job_id = uuid4()
    job = mailbox.NewJob(agent_id, JobKind.RESTORE, JobSource.HTTP, job_id, payload=payload)
    mailbox.insert_job(connection, job)
    return job_id


def request_rebuild_step(
    connection: Connection, agent_id: str, number: int, source: JobSource = JobSource.LANE
) -> None:
    """Submit the next step of the rebuild of an edition; the lane must be locked."""
    job = mailbox.NewJob(agent_id, JobKind.REBUILD, source, payload={"edition": number})
    mailbox.insert_job(connection, job)


_LAST_STEP = """
SELECT id, state, last_error FROM job
WHERE agent_id = %s AND kind = %s AND state IN ('queued', 'dead')
AND payload->>'edition' = %s::bigint::text ORDER BY ordinal DESC LIMIT 1
"""


def rebuild_step(connection: Connection, agent_id: str, number: int) -> StepJob | None:
    """Return the queued or dead job that is to take an edition further."""
    values = (agent_id, JobKind.REBUILD, number)
    row = connection.exec_driver_sql(_LAST_STEP, values).first()
    return None if row is None else StepJob(id=row[0], state=JobState(row[1]), error=row[2])


def edition_answer(connection: Connection, agent_id: str) -> EditionAnswer:
    """Describe the agent's last edition; ``NotFoundError``: there never was one."""
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
        job=rebuild_step(connection, agent_id, edition.number) if is_open else None,
        created_at=known.created_at,
        finished_at=known.finished_at,
    )


_REEMBED_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000009")
_AGENTS = "SELECT agent_id FROM lane WHERE agent_id > %s ORDER BY agent_id LIMIT %s"
# Locks no lane: the sweep wakes the agents that have a job. Erased agents get none (M25).
_SUBMIT_REEMBEDDING = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT agent_id, id, %s, '{{}}', %s
FROM unnest(%s::text[], %s::uuid[]) AS new(agent_id, id) JOIN lane USING (agent_id)
WHERE {IS_THERE} ON CONFLICT (agent_id, id) DO NOTHING
"""  # noqa: S608 - a constant of this module
_REEMBEDDING_LEFT = """
SELECT count(DISTINCT agent_id) FILTER (WHERE state = 'queued'),
       count(DISTINCT agent_id) FILTER (WHERE state = 'dead')
FROM job WHERE state IN ('queued', 'dead') AND kind = %s
"""


@dataclass(frozen=True, slots=True)
class ReembeddingLeft:
    """Agents that wait for new vectors, and agents whose job for them is dead."""

    queued: int
    dead: int


@dataclass(frozen=True, slots=True)
class ReembeddingRequested:
    """The result of requesting new vectors for some agents."""

    count: int
    last: str  # the last agent of the batch; '' when there are no more
    erasing: Sequence[str] = ()  # an erasure is under way: request these one by one


def request_reembedding(
    connection: Connection, change: int, *, after: str, max_agents: int
) -> ReembeddingRequested:
    """Submit the job of the next agents by id, each once for one change of the model."""
    agents = list(connection.exec_driver_sql(_AGENTS, (after, max_agents)).scalars())
    if not agents:
        return ReembeddingRequested(0, "")
    free = agents_without_erasure(connection, agents)
    erasing = [each for each in agents if each not in free]
    count = _submit_reembedding(connection, change, sorted(free))
    return ReembeddingRequested(count, agents[-1], erasing)


def request_reembedding_of(connection: Connection, change: int, agent_id: str) -> int:
    """Submit the job of one agent, after an erasure that is under way; return how many."""
    wait_for_erasure(connection, agent_id)
    return _submit_reembedding(connection, change, [agent_id])


def _submit_reembedding(connection: Connection, change: int, agents: Sequence[str]) -> int:
    """Submit the jobs of the agents that exist; return for how many agents.

    An erasure has to wait for this transaction.
    """
    submitted = 0
    for kind in (JobKind.REEMBED, JobKind.INDEX_ITEMS):  # items lose their vectors first
        ids = [uuid5(_REEMBED_NAMESPACE, f"{change}\0{kind}\0{agent_id}") for agent_id in agents]
        values = (kind, JobSource.REEMBED, list(agents), ids)
        submitted = connection.exec_driver_sql(_SUBMIT_REEMBEDDING, values).rowcount
    return submitted


def reembedding_left(connection: Connection) -> ReembeddingLeft:
    """Count the agents that have not got all their new vectors; in any transaction."""
    return ReembeddingLeft(*connection.exec_driver_sql(_REEMBEDDING_LEFT, (JobKind.REEMBED,)).one())
