"""Messages come in, and can be read again."""

from __future__ import annotations

from fastapi import APIRouter

from memci.domain.job import JobSource
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, IdempotencyKey, Limit, SessionId
from memci.http.routing import ReadRoute, WriteRoute
from memci.queue.intake import Append
from memci.schemas.agents import CompressAnswer, CompressRequest
from memci.schemas.messages import AppendAnswer, AppendRequest, MessageList

writing = APIRouter(prefix="/v1", tags=["messages"], route_class=WriteRoute)
reading = APIRouter(prefix="/v1", tags=["messages"], route_class=ReadRoute)


@writing.post("/agents/{agent}/messages", status_code=202, responses=problems(400, 409, 413, 415))
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


@writing.post("/agents/{agent}/compress", status_code=202, responses=problems(400, 404, 413, 415))
def compress(agent: AgentId, call: Call, body: CompressRequest | None = None) -> CompressAnswer:
    """Ask for one more pass over the agent's memories; requests that wait are one."""
    del body  # the reason is for whoever reads the request
    return call.runtime.intake.request_compress(agent)


@reading.get("/agents/{agent}/messages", responses=problems(404))
def list_messages(
    agent: AgentId,
    call: Call,
    session_id: SessionId = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> MessageList:
    """List messages by seq."""
    return call.runtime.listings.messages(agent, session_id=session_id, cursor=cursor, limit=limit)
