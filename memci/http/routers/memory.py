"""Routes for messages, recall, search, context and summaries."""

from memci.domain.job import JobSource
from memci.http.documentation import CONFLICT
from memci.http.request import AgentId, Call, IdempotencyKey, Page, SessionId
from memci.http.routing import Routes
from memci.queue.intake import Append
from memci.schemas import reads as schemas
from memci.schemas.agents import CompressAnswer, CompressRequest
from memci.schemas.messages import AppendAnswer, AppendRequest, MessageList
from memci.schemas.sessions import HandoverAnswer, HandoverRequest, SummaryList
from memci.telemetry.metrics import HttpMetrics

message_routes = Routes("messages")
routes = Routes("reads")


@message_routes.write.post("/agents/{agent}/messages", status_code=202, responses=CONFLICT)
async def append_messages(
    agent: AgentId,
    body: AppendRequest,
    call: Call,
    idempotency_key: IdempotencyKey = None,
) -> AppendAnswer:
    """Append messages, in order; they are stored when the answer arrives.

    A message with a known id is a duplicate and changes nothing.
    """
    body.check_limits(call.runtime.settings.append_limits)
    answer = await call.runtime.async_intake.append(
        Append(
            agent,
            [message.to_domain() for message in body.messages],
            session_id=body.session_id,
            user_id=body.user_id,
            remember=body.remember,
            skip_erased=body.skip_erased,
            source=JobSource.HTTP,
            key=idempotency_key,
            traceparent=call.state.traceparent,
            paying=call.state.paying,
            redact=call.runtime.settings.memory.redact,
        )
    )
    metrics: HttpMetrics = call.app.state.metrics
    metrics.count_redacted(answer.redacted)
    return answer


@message_routes.write.post("/agents/{agent}/compress", status_code=202)
def compress(agent: AgentId, call: Call, body: CompressRequest | None = None) -> CompressAnswer:
    """Ask for one more pass over the agent's memories; requests that wait are one."""
    del body  # the reason is only for readers of the request
    return call.runtime.intake.request_compress(agent)


@message_routes.read.get("/agents/{agent}/messages")
def list_messages(
    agent: AgentId, call: Call, page: Page, session_id: SessionId = None
) -> MessageList:
    """List messages by seq."""
    return call.runtime.listings.messages(agent, session_id=session_id, **page)


@routes.read.post("/agents/{agent}/recall")
def recall(
    agent: AgentId, body: schemas.RecallRequest, call: Call
) -> schemas.RecallText | schemas.RecallAnswer:
    """Search the memory network from what the agent is talking about, outwards."""
    answer = schemas.RecallText if body.format == "text" else schemas.RecallAnswer
    return answer.model_validate(call.ask("recall", agent, body))


@routes.read.post("/agents/{agent}/search")
def search(agent: AgentId, body: schemas.SearchRequest, call: Call) -> schemas.SearchAnswer:
    """Search messages, memories, pages, pins, plans and documents by meaning and by words."""
    call.check_collections(body.collections)
    return schemas.SearchAnswer.model_validate(call.ask("search", agent, body))


@routes.read.post("/agents/{agent}/context")
def context(agent: AgentId, body: schemas.ContextRequest, call: Call) -> schemas.ContextAnswer:
    """Assemble the messages that a model should see, within a token budget."""
    call.check_collections(body.collections)
    return schemas.ContextAnswer.model_validate(call.ask("assemble", agent, body))


@routes.read.get("/agents/{agent}/summaries")
def list_summaries(
    agent: AgentId, call: Call, page: Page, session_id: SessionId = None
) -> SummaryList:
    """List the summaries of sessions: each has one, which grows with it."""
    return call.runtime.listings.summaries(agent, session_id=session_id, **page)


@routes.read.post("/agents/{agent}/handover")
def handover(agent: AgentId, body: HandoverRequest, call: Call) -> HandoverAnswer:
    """Write one document with all that another agent needs to continue a session."""
    return HandoverAnswer.model_validate(call.ask("handover", agent, body))
