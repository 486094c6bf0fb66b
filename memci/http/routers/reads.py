"""Recall, search and context: asked of a context worker."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import TypeAdapter

from memci.http.call import Call
from memci.http.documentation import problems
from memci.http.parameters import AgentId
from memci.http.route import ReadRoute
from memci.shapes.read import (
    ContextAnswer,
    ContextRequest,
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
    answer = call.services.reads.call("recall", agent, body.model_dump(mode="json"))
    return _RECALLED.validate_python(answer)


@router.post("/agents/{agent}/search")
def search(agent: AgentId, body: SearchRequest, call: Call) -> SearchAnswer:
    """Search messages and memories by meaning and by words."""
    answer = call.services.reads.call("search", agent, body.model_dump(mode="json"))
    return SearchAnswer.model_validate(answer)


@router.post("/agents/{agent}/context")
def context(agent: AgentId, body: ContextRequest, call: Call) -> ContextAnswer:
    """Assemble the messages that a model should see, within a token budget."""
    answer = call.services.reads.call("assemble", agent, body.model_dump(mode="json"))
    return ContextAnswer.model_validate(answer)
