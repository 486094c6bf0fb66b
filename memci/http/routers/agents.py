"""Routes for agents, their settings, usage, lanes and jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from memci.commands import configure, jobs
from memci.domain.job import JobState
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, Limit, ThingId
from memci.http.routing import AdminRoute, ReadRoute
from memci.reading.lists.listings import usage_of
from memci.schemas.agents import (
    AgentAnswer,
    AgentList,
    JobAnswer,
    JobList,
    LaneAnswer,
    ReplayRequest,
    UsageAnswer,
)
from memci.schemas.settings import SettingsAnswer, SettingsRequest

agent_reading = APIRouter(prefix="/v1", tags=["agents"], route_class=ReadRoute)
agent_operating = APIRouter(prefix="/v1", tags=["agents"], route_class=AdminRoute)


@agent_reading.get("/agents", responses=problems())
def list_agents(call: Call, cursor: Cursor = None, limit: Limit = 100) -> AgentList:
    """List the agents that the key is for, by id."""
    return call.runtime.listings.agents(pattern=call.key_agents, cursor=cursor, limit=limit)


@agent_reading.get("/agents/{agent}", responses=problems(404))
def get_agent(agent: AgentId, call: Call) -> AgentAnswer:
    """Return what one agent holds, and what is still to do for it."""
    return call.runtime.listings.agent(agent)


@agent_reading.get("/agents/{agent}/settings", responses=problems(404))
def get_settings(agent: AgentId, call: Call) -> SettingsAnswer:
    """Return the parameters that hold for an agent."""
    return configure.show(call.runtime.page_commands, agent, call.runtime.defaults)


@agent_reading.get("/agents/{agent}/usage", responses=problems(404))
def get_usage(
    agent: AgentId, call: Call, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> UsageAnswer:
    """Return what language models took for an agent, day by day, and its budget of today."""
    return usage_of(
        call.runtime.database,
        agent,
        days=days,
        defaults=call.runtime.settings.memory,
        now=datetime.now(UTC),
    )


@agent_operating.put("/agents/{agent}/settings", responses=problems(400, 413, 415))
def put_settings(agent: AgentId, body: SettingsRequest, call: Call) -> SettingsAnswer:
    """Replace all parameters that an agent has of its own.

    What is not sent goes back to its default: to change one alone, send along all that `changed` of
    the answer to GET names, each with its value.
    """
    values = body.model_dump(exclude_none=True)
    return configure.run(call.runtime.page_commands, agent, values, call.runtime.defaults)


@agent_operating.post("/agents/{agent}/pause", responses=problems(404))
def pause(agent: AgentId, call: Call) -> LaneAnswer:
    """Let no worker begin another job of this agent; messages are still taken in."""
    return jobs.pause(call.runtime.database, agent)


@agent_operating.post("/agents/{agent}/compress/cancel", responses=problems(404))
def cancel_compression(agent: AgentId, call: Call) -> LaneAnswer:
    """Drop the pass under way, between two nodes, and the one that waits; what is done stays."""
    return jobs.cancel_compression(call.runtime.database, agent)


@agent_operating.post("/agents/{agent}/resume", responses=problems(404))
def resume(agent: AgentId, call: Call) -> LaneAnswer:
    """Let workers go on, after a pause or after a dead job that halted the lane."""
    return jobs.resume(call.runtime.database, call.runtime.tokens, agent)


job_reading = APIRouter(prefix="/v1", tags=["jobs"], route_class=ReadRoute, responses=problems(404))
job_operating = APIRouter(
    prefix="/v1", tags=["jobs"], route_class=AdminRoute, responses=problems(404, 409)
)


@job_reading.get("/agents/{agent}/jobs")
def list_jobs(
    agent: AgentId,
    call: Call,
    state: Annotated[JobState | None, Query()] = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> JobList:
    """List jobs in the order of the mailbox."""
    return call.runtime.listings.jobs(agent, state=state, cursor=cursor, limit=limit)


@job_reading.get("/agents/{agent}/jobs/{job_id}")
def get_job(agent: AgentId, job_id: ThingId, call: Call) -> JobAnswer:
    """Return one job."""
    return call.runtime.listings.job(agent, job_id)


@job_operating.post("/agents/{agent}/jobs/{job_id}/cancel")
def cancel(agent: AgentId, job_id: ThingId, call: Call) -> JobAnswer:
    """Take a queued job out of the mailbox."""
    runtime = call.runtime
    jobs.cancel(runtime.database, runtime.tokens, agent, job_id)
    return call.runtime.listings.job(agent, job_id)


@job_operating.post("/agents/{agent}/jobs/{job_id}/replay", responses=problems(400, 413, 415))
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


@job_operating.post("/agents/{agent}/jobs/{job_id}/discard")
def discard(agent: AgentId, job_id: ThingId, call: Call) -> JobAnswer:
    """Give up a dead job."""
    runtime = call.runtime
    jobs.discard(runtime.database, runtime.tokens, agent, job_id)
    return call.runtime.listings.job(agent, job_id)
