"""Routes for agents, their settings, usage, lanes and jobs."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query

from memci.commands import configure, jobs
from memci.domain.job import JobState
from memci.http.documentation import CONFLICT
from memci.http.request import AgentId, Call, Page, ThingId
from memci.http.routing import Routes
from memci.reading.lists.listings import usage_of
from memci.schemas import agents as schemas
from memci.schemas.agents import SettingsAnswer, SettingsRequest

routes = Routes("agents")
job_routes = Routes("jobs")


@routes.read.get("/agents")
def list_agents(call: Call, page: Page) -> schemas.AgentList:
    """List the agents that the key is for, by id."""
    return call.runtime.listings.agents(pattern=call.state.agents, **page)


@routes.read.get("/agents/{agent}")
def get_agent(agent: AgentId, call: Call) -> schemas.AgentAnswer:
    """Return one agent: the sizes of its memory, and its open work."""
    return call.runtime.listings.agent(agent)


@routes.read.get("/agents/{agent}/settings")
def get_settings(agent: AgentId, call: Call) -> SettingsAnswer:
    """Return the parameters that hold for an agent."""
    return configure.show(call.runtime.page_commands, agent, call.runtime.defaults)


@routes.read.get("/agents/{agent}/usage")
def get_usage(
    agent: AgentId, call: Call, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> schemas.UsageAnswer:
    """Return what language models took for an agent, day by day, and its budget of today."""
    return usage_of(
        call.runtime.database,
        agent,
        days=days,
        defaults=call.runtime.settings.memory,
        now=datetime.now(UTC),
    )


@routes.admin.put("/agents/{agent}/settings")
def put_settings(agent: AgentId, body: SettingsRequest, call: Call) -> SettingsAnswer:
    """Replace all of an agent's own parameters.

    A parameter that is not sent goes back to its default. To change only one, send all that
    `changed` in the answer to GET names, each with its value.
    """
    values = body.model_dump(exclude_none=True)
    return configure.run(call.runtime.page_commands, agent, values, call.runtime.defaults)


@routes.admin.post("/agents/{agent}/pause")
def pause(agent: AgentId, call: Call) -> schemas.LaneAnswer:
    """Let no worker begin another job of this agent; messages are still accepted."""
    return jobs.pause(call.runtime.database, agent)


@routes.admin.post("/agents/{agent}/compress/cancel")
def cancel_compression(agent: AgentId, call: Call) -> schemas.LaneAnswer:
    """Drop the current pass, between two nodes, and the waiting one; what is done stays."""
    return jobs.cancel_compression(call.runtime.database, agent)


@routes.admin.post("/agents/{agent}/resume")
def resume(agent: AgentId, call: Call) -> schemas.LaneAnswer:
    """Let workers go on, after a pause or after a dead job that halted the lane."""
    return jobs.resume(call.runtime.database, call.runtime.wakeups, agent)


@job_routes.read.get("/agents/{agent}/jobs")
def list_jobs(
    agent: AgentId, call: Call, page: Page, state: Annotated[JobState | None, Query()] = None
) -> schemas.JobList:
    """List jobs in the order of the mailbox."""
    return call.runtime.listings.jobs(agent, state=state, **page)


@job_routes.read.get("/agents/{agent}/jobs/{job_id}")
def get_job(agent: AgentId, job_id: ThingId, call: Call) -> schemas.JobAnswer:
    """Return one job."""
    return call.runtime.listings.job(agent, job_id)


@job_routes.admin.post("/agents/{agent}/jobs/{job_id}/cancel", responses=CONFLICT)
def cancel(agent: AgentId, job_id: ThingId, call: Call) -> schemas.JobAnswer:
    """Take a queued job out of the mailbox."""
    jobs.cancel(call.runtime.database, call.runtime.wakeups, agent, job_id)
    return call.runtime.listings.job(agent, job_id)


@job_routes.admin.post("/agents/{agent}/jobs/{job_id}/replay", responses=CONFLICT)
def replay(
    agent: AgentId, job_id: ThingId, call: Call, body: schemas.ReplayRequest | None = None
) -> schemas.JobAnswer:
    """Run a dead job again; the answer is the job to watch, which may be a new one."""
    runtime = call.runtime
    watched = jobs.replay(
        runtime.database,
        runtime.wakeups,
        agent,
        job_id,
        at_tail=body is not None and body.where == "tail",
        limits=runtime.settings.append_limits,
    )
    return call.runtime.listings.job(agent, watched)


@job_routes.admin.post("/agents/{agent}/jobs/{job_id}/discard", responses=CONFLICT)
def discard(agent: AgentId, job_id: ThingId, call: Call) -> schemas.JobAnswer:
    """Give up a dead job."""
    jobs.discard(call.runtime.database, call.runtime.wakeups, agent, job_id)
    return call.runtime.listings.job(agent, job_id)
