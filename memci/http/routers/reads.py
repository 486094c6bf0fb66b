"""Recall, search and context: asked of a context worker."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter

from memci.broker.names import ReadUse
from memci.http.documentation import problems
from memci.http.request import AgentId, Call
from memci.http.routing import ReadRoute
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

router = APIRouter(
    prefix="/v1",
    tags=["reads"],
    route_class=ReadRoute,
    responses=problems(400, 413, 415),
)
_RECALLED: TypeAdapter[RecallText | RecallAnswer] = TypeAdapter(RecallText | RecallAnswer)


@router.post("/agents/{agent}/recall")
def recall(agent: AgentId, body: RecallRequest, call: Call) -> RecallText | RecallAnswer:
    """Search the memory network from what the agent is talking about, outwards."""
    answer = _ask(call, "recall", agent, body)
    return _RECALLED.validate_python(answer)


@router.post("/agents/{agent}/search", responses=problems(404))
def search(agent: AgentId, body: SearchRequest, call: Call) -> SearchAnswer:
    """Search all that was said, remembered, kept or indexed, by meaning and by words."""
    call.check_collections(body.collections)
    answer = _ask(call, "search", agent, body)
    return SearchAnswer.model_validate(answer)


@router.post("/agents/{agent}/context", responses=problems(404))
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
