"""Checkpoints of a framework's threads (docs/frameworks.md)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path

from memci.commands import checkpoints as keeping
from memci.http.documentation import problems
from memci.http.request import AgentId, Call
from memci.http.routing import ReadRoute, WriteRoute
from memci.reading.checkpoints import find
from memci.schemas.frameworks import (
    CheckpointIn,
    CheckpointKept,
    CheckpointList,
    CheckpointPrune,
    CheckpointSearch,
    ThreadAnswer,
    ThreadCopy,
    ThreadName,
    WritesIn,
)

_PROBLEMS = problems(400, 404, 409, 413, 415)
reading = APIRouter(prefix="/v1", tags=["threads"], route_class=ReadRoute, responses=_PROBLEMS)
writing = APIRouter(prefix="/v1", tags=["threads"], route_class=WriteRoute, responses=_PROBLEMS)

# A thread's name may hold slashes.
Thread: TypeAlias = Annotated[ThreadName, Path()]


@writing.post("/agents/{agent}/threads/{thread:path}/checkpoints")
def put_checkpoint(
    agent: AgentId, thread: Thread, body: CheckpointIn, call: Call
) -> CheckpointKept:
    """Store a checkpoint of a thread, with the values that are new in it."""
    return keeping.put(call.runtime.database, agent, thread, body)


@writing.post("/agents/{agent}/threads/{thread:path}/writes")
def put_pending_writes(
    agent: AgentId, thread: Thread, body: WritesIn, call: Call
) -> CheckpointKept:
    """Store what a task has written after a checkpoint."""
    return keeping.put_writes(call.runtime.database, agent, thread, body)


@writing.post("/agents/{agent}/threads/{thread:path}/copy")
def copy_thread(agent: AgentId, thread: Thread, body: ThreadCopy, call: Call) -> ThreadAnswer:
    """Store a thread under another name, too."""
    return keeping.copy(call.runtime.database, agent, thread, body.to)


@writing.post("/agents/{agent}/checkpoints/prune")
def prune_checkpoints(agent: AgentId, body: CheckpointPrune, call: Call) -> ThreadAnswer:
    """Remove checkpoints of some runs, or of some threads all, or all but the latest."""
    return keeping.prune(call.runtime.database, agent, body)


@reading.post("/agents/{agent}/checkpoints/search")
def search_checkpoints(agent: AgentId, body: CheckpointSearch, call: Call) -> CheckpointList:
    """List checkpoints, the latest first."""
    return find(call.runtime.database, agent, body)
