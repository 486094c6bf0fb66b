"""Routes for the memory network, its passes, sessions and rebuilt editions."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

from fastapi import Depends, Path, Query
from pydantic import Field

from memci.commands import edit_memories, network_changes, rebuild
from memci.http.documentation import CONFLICT
from memci.http.request import (
    AgentId,
    AsOf,
    Call,
    IdempotencyKey,
    NodeId,
    Page,
    SessionId,
    ThingId,
)
from memci.http.routing import Routes
from memci.reading.lists.memory_listings import NodeFilters
from memci.schemas import memories, network_editions
from memci.schemas.agents import FocusList, LinkList, NodeAnswer, NodeList, ReceiptAnswer, TrailList
from memci.schemas.base import ForeignId, Instant, Until
from memci.schemas.base import Query as TextQuery
from memci.schemas.network import FadingAnswer, NetworkAnswer, PassList
from memci.schemas.sessions import ConsolidateAnswer, HistoryAnswer, SessionEndAnswer, SessionList
from memci.telemetry.metrics import HttpMetrics

routes = Routes("network")


async def _filters(  # noqa: PLR0913 - each is a parameter of the path
    *,
    kind: Annotated[Literal["memory", "entity"] | None, Query()] = None,
    node_type: Annotated[memories.NodeType | None, Query(alias="type")] = None,
    tier: Annotated[Literal["short", "long"] | None, Query()] = None,
    pinned: Annotated[bool | None, Query()] = None,
    text: Annotated[TextQuery | None, Query(description="Words that all are in its text")] = None,
    session_id: SessionId = None,
    user_id: Annotated[ForeignId | None, Query()] = None,
    since: Annotated[Instant | None, Query(description="Said since then")] = None,
    until: Annotated[Until | None, Query(description="Said before then")] = None,
    as_of: AsOf = None,
) -> NodeFilters:
    return NodeFilters(
        kind=kind, type=node_type, tier=tier, pinned=pinned, text=text, session_id=session_id,
        user_id=user_id, since=since, until=until, as_of=as_of,
    )  # fmt: skip


@routes.read.get("/agents/{agent}/nodes")
def list_nodes(
    agent: AgentId, call: Call, page: Page, filters: Annotated[NodeFilters, Depends(_filters)]
) -> NodeList:
    """List nodes by id; as of a time, the living memories that held then."""
    return call.runtime.listings.nodes(agent, filters, **page)


@routes.write.post("/agents/{agent}/nodes", status_code=202, responses=CONFLICT)
def add_memories(
    agent: AgentId, body: memories.AddRequest, call: Call, idempotency_key: IdempotencyKey = None
) -> memories.AddAnswer:
    """Remember facts without a conversation: a job makes one memory of each text.

    Search finds the texts at once. They are pinned, so they do not fade.
    """
    answer = edit_memories.add(
        call.runtime.intake,
        agent,
        body,
        idempotency_key,
        redact=call.runtime.settings.memory.redact,
        paying=call.state.paying,
    )
    metrics: HttpMetrics = call.app.state.metrics
    metrics.count_redacted(answer.redacted)
    return answer


@routes.write.patch("/agents/{agent}/nodes", responses=CONFLICT)
def edit_nodes(agent: AgentId, body: memories.EditRequest, call: Call) -> memories.EditAnswer:
    """Correct or pin several memories, all or none; see the path of one."""
    return _edit(call, agent, body.memories)


@routes.write.patch("/agents/{agent}/nodes/{node_id}", responses=CONFLICT)
def edit_node(
    agent: AgentId, node_id: NodeId, body: memories.MemoryEdit, call: Call
) -> memories.EditAnswer:
    """Correct a memory with a new `text`, pin or unpin it, or set its type or worth.

    A corrected memory is removed at once, and reads no longer show what it told, in its messages
    neither. The new text becomes a memory with another id, which is pinned.
    """
    change = memories.NumberedEdit.model_construct(node_id=node_id, **dict(body))
    return _edit(call, agent, [change])


def _edit(call: Call, agent: str, changes: Sequence[memories.NumberedEdit]) -> memories.EditAnswer:
    runtime = call.runtime
    return edit_memories.edit(
        runtime.database,
        runtime.wakeups,
        agent,
        changes,
        redact=runtime.settings.memory.redact,
        paying=call.state.paying,
    )


@routes.write.delete("/agents/{agent}/nodes", responses=CONFLICT)
def delete_nodes(
    agent: AgentId,
    call: Call,
    ids: Annotated[
        list[Annotated[int, Field(ge=0, le=2**63 - 1)]],
        Query(alias="id", min_length=1, max_length=memories.MOST_EDITS, description="A memory"),
    ],
) -> memories.DeleteAnswer:
    """Delete several memories, all or none: `?id=3&id=7`; see the path of one."""
    return edit_memories.delete(call.runtime.database, call.runtime.wakeups, agent, ids)


@routes.write.delete("/agents/{agent}/nodes/{node_id}", responses=CONFLICT)
def delete_node(agent: AgentId, node_id: NodeId, call: Call) -> memories.DeleteAnswer:
    """Delete a memory; deleting it again changes nothing.

    Its messages stay stored, but reads do not show what it told. To remove them, erase them.
    """
    return edit_memories.delete(call.runtime.database, call.runtime.wakeups, agent, [node_id])


@routes.read.get("/agents/{agent}/nodes/{node_id}")
def get_node(agent: AgentId, node_id: NodeId, call: Call) -> NodeAnswer:
    """Return one node."""
    return call.runtime.listings.node(agent, node_id)


@routes.read.get("/agents/{agent}/nodes/{node_id}/trail")
def get_trail(agent: AgentId, node_id: NodeId, call: Call, page: Page) -> TrailList:
    """List what happened to a node, the oldest first; a forgotten node keeps its trail."""
    return call.runtime.listings.trail(agent, node_id, **page)


@routes.read.get("/agents/{agent}/links")
def list_links(
    agent: AgentId,
    call: Call,
    page: Page,
    node: Annotated[int | None, Query(ge=0, le=2**63 - 1, description="Its source")] = None,
) -> LinkList:
    """List links by source, then target."""
    return call.runtime.listings.links(agent, node_id=node, **page)


@routes.read.get("/agents/{agent}/focus")
def list_focus(agent: AgentId, call: Call) -> FocusList:
    """List what the agent is talking about, the latest mention first."""
    return call.runtime.listings.focus(agent)


@routes.read.get("/agents/{agent}/receipts/{receipt_id}")
def get_receipt(agent: AgentId, receipt_id: ThingId, call: Call) -> ReceiptAnswer:
    """Return the receipt of an operation: what it did, in numbers and ids."""
    return call.runtime.listings.receipt(agent, receipt_id)


@routes.read.get("/agents/{agent}/network")
def get_network(
    agent: AgentId,
    call: Call,
    number: Annotated[int | None, Query(alias="pass", ge=1, le=2**63 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Nodes at most")] = 500,
) -> NetworkAnswer:
    """Return nodes, links and focus points: now, or after a pass.

    Without a snapshot of that pass, the last one before it is used.
    """
    return call.runtime.listings.network(agent, number=number, limit=limit)


@routes.read.get("/agents/{agent}/passes")
def list_passes(agent: AgentId, call: Call, page: Page) -> PassList:
    """List compression passes, the latest first."""
    return call.runtime.listings.passes(agent, **page)


@routes.read.get("/agents/{agent}/fading")
def get_fading(
    agent: AgentId,
    call: Call,
    passes: Annotated[int, Query(ge=1, le=500, description="Snapshots at most")] = 200,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Memories at most")] = 500,
) -> FadingAnswer:
    """Return strengths, importance and length of memories over the snapshots that are kept."""
    return call.runtime.listings.fading(agent, passes=passes, limit=limit)


@routes.write.post("/agents/{agent}/focus", responses=CONFLICT)
def mention(agent: AgentId, body: network_editions.FocusRequest, call: Call) -> FocusList:
    """Bring an entity into the focus; the latest mention comes first.

    Its links get the greatest strength, and do not fade while it is a focus point. An entity that
    is new, or was forgotten, is created.
    """
    runtime = call.runtime
    return network_changes.mention_in_focus(
        runtime.database, runtime.wakeups, agent, body.entity, runtime.settings.memory
    )


@routes.write.post("/agents/{agent}/nodes/{node_id}/restore", status_code=202, responses=CONFLICT)
def restore_node(agent: AgentId, node_id: NodeId, call: Call) -> network_editions.RestoreAnswer:
    """Make a forgotten memory again from its messages; asking twice is asking once.

    It becomes a new node, linked to the present focus. The trails of both nodes name the other.
    """
    return network_changes.restore_memory(
        call.runtime.database, call.runtime.wakeups, agent, node_id
    )


@routes.admin.post("/agents/{agent}/rebuild", status_code=202, responses=CONFLICT)
def begin_rebuild(
    agent: AgentId, call: Call, body: network_editions.RebuildRequest | None = None
) -> network_editions.EditionAnswer:
    """Rebuild the agent's network from its messages, beside the current one.

    Creations and passes run again in their order, with the models and parameters of today.
    Meanwhile reads see the current network, and new messages are remembered.
    """
    runtime = call.runtime
    up_to_seq = body.up_to_seq if body else None
    return rebuild.begin(runtime.database, runtime.wakeups, agent, up_to_seq=up_to_seq)


@routes.read.get("/agents/{agent}/rebuild")
def get_rebuild(agent: AgentId, call: Call) -> network_editions.EditionAnswer:
    """Return the progress of the rebuild, or the result of the last one."""
    return rebuild.show(call.runtime.database, agent)


@routes.read.post("/agents/{agent}/rebuild/compare")
def compare_rebuilt(
    agent: AgentId, call: Call, body: network_editions.ComparisonRequest | None = None
) -> network_editions.ComparisonAnswer:
    """Compare the rebuilt network with the current one."""
    return network_editions.ComparisonAnswer.model_validate(call.ask("compare", agent, body))


@routes.admin.post("/agents/{agent}/rebuild/switch", status_code=202, responses=CONFLICT)
def switch_rebuilt(agent: AgentId, call: Call) -> network_editions.EditionAnswer:
    """Replace the current network by the rebuilt one, which must be ready.

    Events since then are replayed first, so nothing is lost. Nodes have new ids; trails of the old
    ones stay.
    """
    return rebuild.switch(call.runtime.database, call.runtime.wakeups, agent)


@routes.admin.post("/agents/{agent}/rebuild/drop")
def drop_rebuilt(agent: AgentId, call: Call) -> network_editions.EditionAnswer:
    """Delete the rebuilt network; the current one stays as it is."""
    return rebuild.drop(call.runtime.database, call.runtime.wakeups, agent)


SessionName: TypeAlias = Annotated[ForeignId, Path()]


@routes.read.get("/agents/{agent}/sessions")
def list_sessions(agent: AgentId, call: Call, page: Page) -> SessionList:
    """List sessions by id: their messages, and whether they have ended."""
    defaults, now = call.runtime.settings.memory, datetime.now(UTC)
    return call.runtime.listings.sessions(agent, defaults, now=now, **page)


@routes.read.get("/agents/{agent}/nodes/{node_id}/history")
def get_history(agent: AgentId, node_id: NodeId, call: Call, as_of: AsOf = None) -> HistoryAnswer:
    """List the versions of a memory, before it and after it, the oldest first."""
    return call.runtime.listings.history(agent, node_id, as_of)


# A session's id may hold slashes.
@routes.write.post("/agents/{agent}/sessions/{session:path}/end", status_code=202)
def end_session(agent: AgentId, session: SessionName, call: Call) -> SessionEndAnswer:
    """End a session: a job judges its short-term memories, and promotes or removes them."""
    return network_changes.end_session(call.runtime.database, call.runtime.wakeups, agent, session)


@routes.write.post("/agents/{agent}/consolidate", status_code=202)
def consolidate(agent: AgentId, call: Call) -> ConsolidateAnswer:
    """Merge short-term memories that say the same; requests that wait are one."""
    return network_changes.consolidate(call.runtime.database, call.runtime.wakeups, agent)
