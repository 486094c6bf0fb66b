"""The memory network of an agent, to look at."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from memci.http.documentation import problems
from memci.http.request import AgentId, AsOf, Call, Cursor, Limit, NodeId, ThingId
from memci.http.routing import ReadRoute
from memci.schemas.agents import FocusList, LinkList, NodeAnswer, NodeList, ReceiptAnswer, TrailList

router = APIRouter(prefix="/v1", tags=["network"], route_class=ReadRoute, responses=problems(404))


@router.get("/agents/{agent}/nodes")
def list_nodes(
    agent: AgentId,
    call: Call,
    kind: Annotated[Literal["memory", "entity"] | None, Query()] = None,
    node_type: Annotated[
        Literal["episodic", "semantic", "procedural"] | None, Query(alias="type")
    ] = None,
    tier: Annotated[Literal["short", "long"] | None, Query()] = None,
    as_of: AsOf = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> NodeList:
    """List nodes by id; as of a time, the living memories that held then."""
    return call.runtime.listings.nodes(
        agent, kind=kind, type=node_type, tier=tier, as_of=as_of, cursor=cursor, limit=limit
    )


@router.get("/agents/{agent}/nodes/{node_id}")
def get_node(agent: AgentId, node_id: NodeId, call: Call) -> NodeAnswer:
    """Return one node."""
    return call.runtime.listings.node(agent, node_id)


@router.get("/agents/{agent}/nodes/{node_id}/trail")
def get_trail(
    agent: AgentId,
    node_id: NodeId,
    call: Call,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> TrailList:
    """List what happened to a node, the oldest first; a forgotten node keeps its trail."""
    return call.runtime.listings.trail(agent, node_id, cursor=cursor, limit=limit)


@router.get("/agents/{agent}/links")
def list_links(
    agent: AgentId,
    call: Call,
    node: Annotated[int | None, Query(ge=0, le=2**63 - 1, description="Its source")] = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> LinkList:
    """List links by source, then target."""
    return call.runtime.listings.links(agent, node_id=node, cursor=cursor, limit=limit)


@router.get("/agents/{agent}/focus")
def list_focus(agent: AgentId, call: Call) -> FocusList:
    """List what the agent is talking about, the latest mention first."""
    return call.runtime.listings.focus(agent)


@router.get("/agents/{agent}/receipts/{receipt_id}")
def get_receipt(agent: AgentId, receipt_id: ThingId, call: Call) -> ReceiptAnswer:
    """Return what an operation did, in numbers and ids."""
    return call.runtime.listings.receipt(agent, receipt_id)
