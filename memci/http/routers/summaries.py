"""Summaries of sessions, and handovers."""

from __future__ import annotations

from fastapi import APIRouter

from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, Limit, SessionId
from memci.http.routing import ReadRoute
from memci.schemas.sessions import HandoverAnswer, HandoverRequest, SummaryList

listing = APIRouter(prefix="/v1", tags=["reads"], route_class=ReadRoute, responses=problems(404))
asking = APIRouter(
    prefix="/v1",
    tags=["reads"],
    route_class=ReadRoute,
    responses=problems(400, 404, 413, 415),
)


@listing.get("/agents/{agent}/summaries")
def list_summaries(
    agent: AgentId,
    call: Call,
    session_id: SessionId = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> SummaryList:
    """List what sessions were about, in short: each has one summary, which goes on with it."""
    return call.runtime.listings.summaries(agent, session_id=session_id, cursor=cursor, limit=limit)


@asking.post("/agents/{agent}/handover")
def handover(agent: AgentId, body: HandoverRequest, call: Call) -> HandoverAnswer:
    """Write what another agent needs to go on with a session, as one document."""
    request = body.model_dump(mode="json", exclude_unset=True)
    if call.traceparent is not None:
        request["traceparent"] = call.traceparent
    answer = call.runtime.reads.call("handover", agent, request, wait_ms=body.wait_ms)
    return HandoverAnswer.model_validate(answer)
