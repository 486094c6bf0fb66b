"""What brings memories back: restores, mentions, and networks that are rebuilt."""

from __future__ import annotations

from fastapi import APIRouter

from memci.commands import memory, rebuild
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, NodeId
from memci.http.routing import AdminRoute, ReadRoute, WriteRoute
from memci.schemas.agents import FocusList
from memci.schemas.editions import (
    ComparisonAnswer,
    ComparisonRequest,
    EditionAnswer,
    FocusRequest,
    RebuildRequest,
    RestoreAnswer,
)

reading = APIRouter(prefix="/v1", tags=["network"], route_class=ReadRoute)
writing = APIRouter(prefix="/v1", tags=["network"], route_class=WriteRoute)
operating = APIRouter(prefix="/v1", tags=["network"], route_class=AdminRoute)


@writing.post("/agents/{agent}/focus", responses=problems(400, 404, 409, 413, 415))
def mention(agent: AgentId, body: FocusRequest, call: Call) -> FocusList:
    """Bring an entity into the focus; the latest mention comes first.

    Its links become as strong as they can be, and do not fade while it is a focus point. One that
    is new, or was forgotten, is made.
    """
    runtime = call.runtime
    defaults = runtime.settings.memory
    return memory.mention_in_focus(runtime.database, runtime.tokens, agent, body.entity, defaults)


@writing.post(
    "/agents/{agent}/nodes/{node_id}/restore", status_code=202, responses=problems(404, 409)
)
def restore_node(agent: AgentId, node_id: NodeId, call: Call) -> RestoreAnswer:
    """Have a forgotten memory made anew from its messages; asking twice is asking once.

    It becomes a new node, linked to what the agent is talking about now. The trails of both tell
    which is which.
    """
    return memory.restore_memory(call.runtime.database, call.runtime.tokens, agent, node_id)


@operating.post(
    "/agents/{agent}/rebuild", status_code=202, responses=problems(400, 404, 409, 413, 415)
)
def begin_rebuild(agent: AgentId, call: Call, body: RebuildRequest | None = None) -> EditionAnswer:
    """Make the agent's network once more from its messages, beside the current one.

    Creations and passes run as they ran, in their order, with the models and parameters of today.
    Reads see the current network, and new messages are remembered meanwhile.
    """
    runtime = call.runtime
    up_to_seq = None if body is None else body.up_to_seq
    return rebuild.begin(runtime.database, runtime.tokens, agent, up_to_seq=up_to_seq)


@reading.get("/agents/{agent}/rebuild", responses=problems(404))
def get_rebuild(agent: AgentId, call: Call) -> EditionAnswer:
    """Return how far the rebuilt network is, or what became of the last one."""
    return rebuild.show(call.runtime.database, agent)


@reading.post("/agents/{agent}/rebuild/compare", responses=problems(400, 404, 413, 415))
def compare_rebuilt(
    agent: AgentId, call: Call, body: ComparisonRequest | None = None
) -> ComparisonAnswer:
    """Compare the rebuilt network with the current one, as far as it is."""
    request = body or ComparisonRequest()
    fields = request.model_dump(mode="json", exclude_unset=True)
    answer = call.runtime.reads.call("compare", agent, fields, wait_ms=0)
    return ComparisonAnswer.model_validate(answer)


@operating.post("/agents/{agent}/rebuild/switch", status_code=202, responses=problems(404, 409))
def switch_rebuilt(agent: AgentId, call: Call) -> EditionAnswer:
    """Let the rebuilt network take the place of the current one, which is gone then.

    Only one that is ready; otherwise the answer is 404 (there is none) or 409 (not made yet).
    What has happened since is done first, so nothing is lost. Nodes have new ids; trails of the
    old ones stay.
    """
    return rebuild.switch(call.runtime.database, call.runtime.tokens, agent)


@operating.post("/agents/{agent}/rebuild/drop", responses=problems(404))
def drop_rebuilt(agent: AgentId, call: Call) -> EditionAnswer:
    """Delete the rebuilt network; the current one stays as it is."""
    return rebuild.drop(call.runtime.database, call.runtime.tokens, agent)
