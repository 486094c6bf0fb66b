"""Routes for messages, recall, search, context and summaries."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter

from memci.broker.names import ReadUse
from memci.domain.job import JobSource
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, IdempotencyKey, Limit, SessionId
from memci.http.routing import ReadRoute, WriteRoute
from memci.queue.intake import Append
from memci.schemas.agents import CompressAnswer, CompressRequest
from memci.schemas.messages import AppendAnswer, AppendRequest, MessageList
from memci.schemas.reads import (
    ContextAnswer,
    ContextRequest,
    Fresh,
    RecallAnswer,
    RecallRequest,
    RecallText,
    SearchAnswer,
    SearchRequest,
)
from memci.schemas.sessions import HandoverAnswer, HandoverRequest, SummaryList

message_writing = APIRouter(prefix="/v1", tags=["messages"], route_class=WriteRoute)
message_reading = APIRouter(prefix="/v1", tags=["messages"], route_class=ReadRoute)


@message_writing.post(
    "/agents/{agent}/messages", status_code=202, responses=problems(400, 409, 413, 415)
)
async def append_messages(
    agent: AgentId,
    body: AppendRequest,
    call: Call,
    idempotency_key: IdempotencyKey = None,
) -> AppendAnswer:
    """Append messages, in order; they are stored when the answer arrives.

    A message whose id is known already is a duplicate and changes nothing.
    """
    body.check_limits(call.runtime.settings.append_limits)
    return await call.runtime.async_intake.append(
        Append(
            agent,
            [message.to_domain() for message in body.messages],
            session_id=body.session_id,
            user_id=body.user_id,
            remember=body.remember,
            skip_erased=body.skip_erased,
            source=JobSource.HTTP,
            key=idempotency_key,
            traceparent=call.traceparent,
        )
    )


@message_writing.post(
    "/agents/{agent}/compress", status_code=202, responses=problems(400, 404, 413, 415)
)
def compress(agent: AgentId, call: Call, body: CompressRequest | None = None) -> CompressAnswer:
    """Ask for one more pass over the agent's memories; requests that wait are one."""
    del body  # the reason is for whoever reads the request
    return call.runtime.intake.request_compress(agent)


@message_reading.get("/agents/{agent}/messages", responses=problems(404))
def list_messages(
    agent: AgentId,
    call: Call,
    session_id: SessionId = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> MessageList:
    """List messages by seq."""
    return call.runtime.listings.messages(agent, session_id=session_id, cursor=cursor, limit=limit)


reading = APIRouter(
    prefix="/v1",
    tags=["reads"],
    route_class=ReadRoute,
    responses=problems(400, 413, 415),
)
_RECALLED: TypeAdapter[RecallText | RecallAnswer] = TypeAdapter(RecallText | RecallAnswer)


@reading.post("/agents/{agent}/recall")
def recall(agent: AgentId, body: RecallRequest, call: Call) -> RecallText | RecallAnswer:
    """Search the memory network from what the agent is talking about, outwards."""
    answer = _ask(call, "recall", agent, body)
    return _RECALLED.validate_python(answer)


@reading.post("/agents/{agent}/search", responses=problems(404))
def search(agent: AgentId, body: SearchRequest, call: Call) -> SearchAnswer:
    """Search all that was said, remembered, kept or indexed, by meaning and by words."""
    call.check_collections(body.collections)
    answer = _ask(call, "search", agent, body)
    return SearchAnswer.model_validate(answer)


@reading.post("/agents/{agent}/context", responses=problems(404))
def context(agent: AgentId, body: ContextRequest, call: Call) -> ContextAnswer:
    """Assemble the messages that a model should see, within a token budget."""
    call.check_collections(body.collections)
    answer = _ask(call, "assemble", agent, body)
    return ContextAnswer.model_validate(answer)


def _ask(call: Call, use: ReadUse, agent: str, body: Fresh) -> dict[str, Any]:
    request = body.model_dump(mode="json", exclude_unset=True)
    if call.traceparent is not None:
        request["traceparent"] = call.traceparent
    return call.runtime.reads.call(use, agent, request, wait_ms=body.wait_ms)


summary_listing = APIRouter(
    prefix="/v1", tags=["reads"], route_class=ReadRoute, responses=problems(404)
)
handover_asking = APIRouter(
    prefix="/v1",
    tags=["reads"],
    route_class=ReadRoute,
    responses=problems(400, 404, 413, 415),
)


@summary_listing.get("/agents/{agent}/summaries")
def list_summaries(
    agent: AgentId,
    call: Call,
    session_id: SessionId = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> SummaryList:
    """List what sessions were about, in short: each has one summary, which goes on with it."""
    return call.runtime.listings.summaries(agent, session_id=session_id, cursor=cursor, limit=limit)


@handover_asking.post("/agents/{agent}/handover")
def handover(agent: AgentId, body: HandoverRequest, call: Call) -> HandoverAnswer:
    """Write what another agent needs to go on with a session, as one document."""
    request = body.model_dump(mode="json", exclude_unset=True)
    if call.traceparent is not None:
        request["traceparent"] = call.traceparent
    answer = call.runtime.reads.call("handover", agent, request, wait_ms=body.wait_ms)
    return HandoverAnswer.model_validate(answer)
