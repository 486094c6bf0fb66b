"""How far the rebuild of a network is, and the job that takes it further (M24)."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.lane.job import JobState
from memci.domain.memory.replay import EditionState
from memci.errors import NotFoundError
from memci.queue.steps import REBUILD_KIND
from memci.shapes.edition import EditionAnswer, StepJob
from memci.storage.editions import last_edition
from memci.storage.replay_log import replayed

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
