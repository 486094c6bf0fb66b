"""The plan of a session (R7)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from memci.domain.pages.permission import Actor
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, SessionId
from memci.http.routing import ReadRoute, WriteRoute
from memci.schemas.pages import PlanAnswer, UpdatePlan

reading = APIRouter(prefix="/v1", tags=["pages"], route_class=ReadRoute, responses=problems(404))
writing = APIRouter(
    prefix="/v1",
    tags=["pages"],
    route_class=WriteRoute,
    responses=problems(400, 404, 409, 413, 415),
)


@reading.get("/agents/{agent}/plan")
def show_plan(agent: AgentId, call: Call, session_id: SessionId = None) -> PlanAnswer:
    """Return what a session follows, step by step; none: that of the last message."""
    return call.runtime.windows.plan(agent, session_id)


@writing.post("/agents/{agent}/plan")
def update_plan(
    agent: AgentId, body: UpdatePlan, call: Call, session_id: SessionId = None
) -> PlanAnswer:
    """Set the steps of a session's plan, all of them; or, with step and state, how far one is.

    Steps that are half the same as before are that plan as it now is; others take its place.
    """
    run = call.runtime.tools.run
    done: Any = run(agent, Actor.DEVELOPER, "update_plan", body, session_id=session_id)
    plan: PlanAnswer = done
    return plan
