"""Pages and the context window (page-tree.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query

from memci.commands.pages.perform import Asked
from memci.commands.pages.table import ALL, Operation
from memci.domain.pages.block import Format
from memci.domain.pages.permission import Actor
from memci.http.call import Call
from memci.http.documentation import problems
from memci.http.parameters import AgentId, SessionId
from memci.http.route import ReadRoute, WriteRoute
from memci.shapes.base import BudgetTokens
from memci.shapes.pages import PageChange, StepAnswer, WindowAnswer

reading = APIRouter(prefix="/v1", tags=["pages"], route_class=ReadRoute, responses=problems(404))
writing = APIRouter(
    prefix="/v1", tags=["pages"], route_class=WriteRoute, responses=problems(404, 403)
)


@reading.get("/agents/{agent}/window")
def get_window(
    agent: AgentId,
    call: Call,
    budget_tokens: Annotated[
        BudgetTokens | None, Query(description="Tokens at most; none: the agent's own limit")
    ] = None,
    form: Annotated[Format, Query(alias="format")] = Format.MARKDOWN,
    session_id: SessionId = None,
) -> WindowAnswer:
    """Return the context window of a session as messages; none: that of the last message."""
    return call.runtime.windows.show(
        agent, session_id=session_id, budget_tokens=budget_tokens, form=form
    )


@writing.post("/agents/{agent}/pages/undo")
def undo(agent: AgentId, call: Call, session_id: SessionId = None) -> StepAnswer:
    """Take back what the agent did to its pages last."""
    return call.runtime.page_commands.undo(agent, session_id=session_id)


@writing.post("/agents/{agent}/pages/redo")
def redo(agent: AgentId, call: Call, session_id: SessionId = None) -> StepAnswer:
    """Do again what was undone last."""
    return call.runtime.page_commands.redo(agent, session_id=session_id)


def _endpoint(operation: Operation[Any]) -> Callable[..., PageChange]:
    def do(agent: AgentId, request: Any, call: Call, session_id: SessionId = None) -> PageChange:
        asked = [Asked(operation, request)]
        commands = call.runtime.page_commands
        return commands.run(agent, Actor.DEVELOPER, asked, session_id=session_id)[0]

    do.__name__ = operation.name
    do.__annotations__["request"] = operation.shape
    do.__doc__ = operation.description
    return do


for _operation in ALL:
    writing.add_api_route(
        f"/agents/{{agent}}/pages/{_operation.name}",
        _endpoint(_operation),
        methods=["POST"],
        name=_operation.name,
    )
