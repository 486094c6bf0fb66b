"""Sessions and their end, consolidation, and what was believed when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path

from memci.commands import memory as consolidation
from memci.http.documentation import problems
from memci.http.request import AgentId, AsOf, Call, Cursor, Limit, NodeId
from memci.http.routing import ReadRoute, WriteRoute
from memci.schemas.base import ForeignId
from memci.schemas.sessions import ConsolidateAnswer, HistoryAnswer, SessionEndAnswer, SessionList

reading = APIRouter(prefix="/v1", tags=["network"], route_class=ReadRoute, responses=problems(404))
writing = APIRouter(prefix="/v1", tags=["network"], route_class=WriteRoute, responses=problems(404))

SessionName: TypeAlias = Annotated[ForeignId, Path()]


@reading.get("/agents/{agent}/sessions")
def list_sessions(
    agent: AgentId, call: Call, cursor: Cursor = None, limit: Limit = 100
) -> SessionList:
    """List sessions by id: what was said in each, and whether it has ended."""
    return call.runtime.listings.sessions(
        agent,
        call.runtime.settings.memory,
        now=datetime.now(UTC),
        cursor=cursor,
        limit=limit,
    )


@reading.get("/agents/{agent}/nodes/{node_id}/history")
def get_history(agent: AgentId, node_id: NodeId, call: Call, as_of: AsOf = None) -> HistoryAnswer:
    """List the versions of a memory, before it and after it, the oldest first."""
    return call.runtime.listings.history(agent, node_id, as_of)


# A session's id may hold slashes.
@writing.post("/agents/{agent}/sessions/{session:path}/end", status_code=202)
def end_session(agent: AgentId, session: SessionName, call: Call) -> SessionEndAnswer:
    """End a session: its short-term memories are judged, and become long-term ones."""
    runtime = call.runtime
    return consolidation.end_session(runtime.database, runtime.tokens, agent, session)


@writing.post("/agents/{agent}/consolidate", status_code=202)
def consolidate(agent: AgentId, call: Call) -> ConsolidateAnswer:
    """Merge short-term memories that say the same; requests that wait are one."""
    runtime = call.runtime
    return consolidation.consolidate(runtime.database, runtime.tokens, agent)
