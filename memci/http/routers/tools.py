"""Tools of models: their schemas, and their calls, for any loop around a model (P15)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query

from memci.domain.pages.block import Format
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, SessionId, WindowFormat
from memci.http.routing import ReadRoute
from memci.http.tool_calls import scope_of, tool_named, tools_for, use_tool
from memci.schemas.tools import ToolFormat, written

router = APIRouter(prefix="/v1", tags=["tools"], route_class=ReadRoute, responses=problems())
calling = APIRouter(
    prefix="/v1",
    tags=["tools"],
    route_class=ReadRoute,
    responses=problems(400, 404, 409, 413, 415),
)


@router.get("/tools")
def list_tools(
    call: Call,
    form: Annotated[
        ToolFormat, Query(alias="format", description="As which provider or protocol wants them")
    ] = ToolFormat.OPENAI,
) -> list[dict[str, Any]]:
    """Return the tools that a model may be given, to hand to its provider as they are.

    Only those that the key may use: one of scope read those that only look, and one of scope write
    none that erases.
    """
    return written(tools_for(call.state.key), form)


@calling.post("/agents/{agent}/tools/{tool}")
def use(
    agent: AgentId,
    tool: Annotated[str, Path(max_length=64, description="Name of a tool, as the model gave it")],
    arguments: Annotated[dict[str, Any], Body(description="As the model gave them")],
    call: Call,
    session_id: SessionId = None,
    form: WindowFormat = Format.MARKDOWN,
) -> dict[str, Any]:
    """Use a tool as the agent's model, and return what the model is to be told.

    Permissions are checked as for the agent itself, and what it does can be undone. A tool that
    changes something needs a key of scope write, and one that erases a key of scope admin, as
    `/erase` does. Refusals are problems, whose `detail` is for the model to read.
    """
    named = tool_named(tool)
    call.check(scope_of(named))
    return use_tool(call.runtime, agent, named, arguments, session_id, form)
