"""Jobs of an agent's mailbox."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memci.commands import jobs
from memci.domain.job import JobState
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, Limit, ThingId
from memci.http.routing import AdminRoute, ReadRoute
from memci.schemas.agents import JobAnswer, JobList, ReplayRequest

reading = APIRouter(prefix="/v1", tags=["jobs"], route_class=ReadRoute, responses=problems(404))
operating = APIRouter(
    prefix="/v1", tags=["jobs"], route_class=AdminRoute, responses=problems(404, 409)
)


@reading.get("/agents/{agent}/jobs")
def list_jobs(
    agent: AgentId,
    call: Call,
    state: Annotated[JobState | None, Query()] = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> JobList:
    """List jobs in the order of the mailbox."""
    return call.runtime.listings.jobs(agent, state=state, cursor=cursor, limit=limit)


@reading.get("/agents/{agent}/jobs/{job_id}")
def get_job(agent: AgentId, job_id: ThingId, call: Call) -> JobAnswer:
    """Return one job."""
    return call.runtime.listings.job(agent, job_id)


@operating.post("/agents/{agent}/jobs/{job_id}/cancel")
def cancel(agent: AgentId, job_id: ThingId, call: Call) -> JobAnswer:
    """Take a queued job out of the mailbox."""
    runtime = call.runtime
    jobs.cancel(runtime.database, runtime.tokens, agent, job_id)
    return call.runtime.listings.job(agent, job_id)


@operating.post("/agents/{agent}/jobs/{job_id}/replay", responses=problems(400, 413, 415))
def replay(
    agent: AgentId, job_id: ThingId, call: Call, body: ReplayRequest | None = None
) -> JobAnswer:
    """Run a dead job again; the answer is the job to watch, which may be a new one."""
    runtime = call.runtime
    watched = jobs.replay(
        runtime.database,
        runtime.tokens,
        agent,
        job_id,
        at_tail=body is not None and body.where == "tail",
        limits=runtime.settings.append_limits,
    )
    return call.runtime.listings.job(agent, watched)


@operating.post("/agents/{agent}/jobs/{job_id}/discard")
def discard(agent: AgentId, job_id: ThingId, call: Call) -> JobAnswer:
    """Give up a dead job."""
    runtime = call.runtime
    jobs.discard(runtime.database, runtime.tokens, agent, job_id)
    return call.runtime.listings.job(agent, job_id)
