"""Pinned texts (R7)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from memci.domain.pages.permission import Actor
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, SessionId
from memci.http.routing import ReadRoute, WriteRoute
from memci.schemas.pages import Pin, PinChange, PinList, Unpin

reading = APIRouter(prefix="/v1", tags=["pages"], route_class=ReadRoute, responses=problems(404))
writing = APIRouter(
    prefix="/v1", tags=["pages"], route_class=WriteRoute, responses=problems(404, 403)
)


@reading.get("/agents/{agent}/pins")
def list_pins(agent: AgentId, call: Call) -> PinList:
    """List what is pinned: texts that every window and context shows, and pages that stay open."""
    return call.runtime.windows.pins(agent)


@writing.post("/agents/{agent}/pins", responses=problems(400, 413, 415))
def add_pin(agent: AgentId, body: Pin, call: Call, session_id: SessionId = None) -> PinChange:
    """Pin a text, or that of a message, until it is taken down."""
    return _done(call, agent, body, session_id)


@writing.delete("/agents/{agent}/pins/{pin}")
def take_down_pin(
    agent: AgentId,
    pin: Annotated[int, Path(ge=1, le=2**62)],
    call: Call,
    session_id: SessionId = None,
) -> PinChange:
    """Take a pinned text down."""
    return _done(call, agent, Unpin(pin=pin), session_id)


def _done(call: Call, agent: str, asked: Pin | Unpin, session_id: str | None) -> PinChange:
    name = "pin" if isinstance(asked, Pin) else "unpin"
    done: Any = call.runtime.tools.run(agent, Actor.DEVELOPER, name, asked, session_id=session_id)
    change: PinChange = done
    return change
