"""The network over its passes: as it is, as it was, and how it fades."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, Limit
from memci.http.routing import ReadRoute
from memci.schemas.network import FadingAnswer, NetworkAnswer, PassList

router = APIRouter(prefix="/v1", tags=["network"], route_class=ReadRoute)


@router.get("/agents/{agent}/network", responses=problems(404))
def get_network(
    agent: AgentId,
    call: Call,
    number: Annotated[
        int | None,
        Query(
            alias="pass",
            ge=1,
            le=2**63 - 1,
            description="As this pass left it, or the last one before it of which a snapshot is "
            "kept; 404 for one that never was; none: as it is now",
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Nodes at most")] = 500,
) -> NetworkAnswer:
    """Return nodes, links and focus points at one moment; `left_out` counts what is not shown."""
    return call.runtime.listings.network(agent, number=number, limit=limit)


@router.get("/agents/{agent}/passes", responses=problems(404))
def list_passes(agent: AgentId, call: Call, cursor: Cursor = None, limit: Limit = 100) -> PassList:
    """List compression passes, the latest first, and of which a snapshot is kept."""
    return call.runtime.listings.passes(agent, cursor=cursor, limit=limit)


@router.get("/agents/{agent}/fading", responses=problems(404))
def get_fading(
    agent: AgentId,
    call: Call,
    passes: Annotated[int, Query(ge=1, le=500, description="Snapshots at most")] = 200,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Memories at most")] = 500,
) -> FadingAnswer:
    """Return strengths, importance and length of memories over the snapshots that are kept."""
    return call.runtime.listings.fading(agent, passes=passes, limit=limit)
