"""Routes for pages, windows, pins, plans, tools and ATTP."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, Depends, Path, Query
from starlette.convertors import StringConvertor, register_url_convertor

from memci.domain.pages.page import Lifecycle
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import InvalidInputError
from memci.http.agent_tools import audited, scope_of, tool_named, tools_for, use_tool
from memci.http.documentation import CONFLICT
from memci.http.request import AgentId, Call, Cursor, SessionId, WindowFormat
from memci.http.routing import Routes
from memci.schemas import pages as schemas
from memci.schemas.attp import AttpAnswer, AttpRequest
from memci.schemas.base import Request
from memci.schemas.tools.format_names import ToolFormat
from memci.schemas.tools.pages import GetPage
from memci.schemas.tools.table import TOOLS, About, Tool, written


class _PageIndex(StringConvertor):
    """Matches indexes only: other paths have the name of an operation there."""

    regex = r"[a-z][a-z0-9_]{0,31}-[0-9]{1,15}"


register_url_convertor("page_index", _PageIndex())
routes = Routes("pages")
tool_routes = Routes("tools")


@routes.read.get("/agents/{agent}/window")
def get_window(
    agent: AgentId,
    call: Call,
    budget_tokens: Annotated[int | None, Query(ge=1, le=2_000_000)] = None,
    form: Annotated[Format, Query(alias="format")] = Format.MARKDOWN,
    session_id: SessionId = None,
) -> schemas.WindowAnswer:
    """Return the context window of a session as messages; none: that of the last message."""
    request = schemas.WindowRequest(session_id=session_id, budget_tokens=budget_tokens, format=form)
    return call.runtime.windows.show(agent, request)


@routes.read.get("/agents/{agent}/pages")
def list_pages(
    agent: AgentId,
    call: Call,
    session_id: SessionId = None,
    lifecycle: Lifecycle | None = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=500, description="Removed pages at most")] = 100,
) -> schemas.PageTree:
    """Return the tree as a session's window shows it, in order; none: that of the last message.

    `hot_archived` pages are archived or in a hidden folder. `cold_archived` pages are removed: they
    come page by page, the latest first; each stands for all that was removed with it.
    """
    windows = call.runtime.windows
    if lifecycle is Lifecycle.COLD_ARCHIVED:
        return windows.removed(agent, session_id=session_id, cursor=cursor, limit=limit)
    if cursor is not None:
        raise InvalidInputError("only removed pages are listed by cursor", field="cursor")
    return windows.tree(agent, session_id=session_id, lifecycle=lifecycle)


@routes.read.get("/agents/{agent}/pages/{index:page_index}")
def read_page(
    agent: AgentId, index: Annotated[str, Path(max_length=64)], call: Call
) -> schemas.PageText:
    """Return a page and its content, in whichever state it is."""
    request = GetPage.model_construct(index=index, offset=0)
    page: schemas.PageText = _run(call, agent, "get_page", request)
    return page


def _endpoint(tool: Tool) -> Callable[..., Any]:
    def endpoint(
        agent: AgentId,
        request: Any,
        call: Call,
        session_id: SessionId = None,
        form: WindowFormat = Format.MARKDOWN,
    ) -> Any:
        return _run(call, agent, tool.name, request, session_id, form)

    endpoint.__name__ = tool.name
    endpoint.__doc__ = tool.help
    # A tool without arguments takes no body.
    body: Any = tool.request if tool.request.model_fields else Annotated[Any, Depends(tool.request)]
    endpoint.__annotations__ |= {"return": tool.answer, "request": body}
    return endpoint


def _run(
    call: Call,
    agent: str,
    tool: str,
    request: Request,
    session: str | None = None,
    form: Format = Format.MARKDOWN,
) -> Any:
    """Use a tool as a developer."""
    run = call.runtime.tools.run
    paying = call.state.paying
    return run(agent, Actor.DEVELOPER, tool, request, session_id=session, form=form, paying=paying)


for _tool in TOOLS:
    if _tool.about is About.PAGES:
        (routes.write if _tool.changes else routes.read).add_api_route(
            f"/agents/{{agent}}/pages/{_tool.name}",
            _endpoint(_tool),
            methods=["POST"],
            name=_tool.name,
            responses=CONFLICT,
        )


@routes.read.get("/agents/{agent}/pins")
def list_pins(agent: AgentId, call: Call) -> schemas.PinList:
    """List pinned texts, which every window and context shows, and pages that stay open."""
    return call.runtime.windows.pins(agent)


@routes.write.post("/agents/{agent}/pins")
def add_pin(
    agent: AgentId, body: schemas.Pin, call: Call, session_id: SessionId = None
) -> schemas.PinChange:
    """Pin a text, or the text of a message, until it is unpinned."""
    change: schemas.PinChange = _run(call, agent, "pin", body, session_id)
    return change


@routes.write.delete("/agents/{agent}/pins/{pin}")
def take_down_pin(
    agent: AgentId,
    pin: Annotated[int, Path(ge=1, le=2**62)],
    call: Call,
    session_id: SessionId = None,
) -> schemas.PinChange:
    """Unpin a text."""
    change: schemas.PinChange = _run(call, agent, "unpin", schemas.Unpin(pin=pin), session_id)
    return change


@routes.read.get("/agents/{agent}/plan")
def show_plan(agent: AgentId, call: Call, session_id: SessionId = None) -> schemas.PlanAnswer:
    """Return the plan of a session, step by step; none: that of the last message."""
    return call.runtime.windows.plan(agent, session_id)


@routes.write.post("/agents/{agent}/plan", responses=CONFLICT)
def update_plan(
    agent: AgentId, body: schemas.UpdatePlan, call: Call, session_id: SessionId = None
) -> schemas.PlanAnswer:
    """Set all steps of a session's plan; or, with step and state, the state of one step.

    Steps of which half are in the plan already change it; other steps replace it.
    """
    plan: schemas.PlanAnswer = _run(call, agent, "update_plan", body, session_id)
    return plan


@routes.write.post("/agents/{agent}/pages/attp")
def attp(
    agent: AgentId, request: AttpRequest, call: Call, session_id: SessionId = None
) -> AttpAnswer:
    """Run a model's answer in ATTP, all of it or nothing, and answer in TOML.

    Faults of the model's answer or code are in our answer, for the model to read.
    """
    run = call.runtime.attp.run
    return run(agent, request.text, session_id=session_id, paying=call.state.paying)


@tool_routes.read.get("/tools")
def list_tools(
    call: Call,
    form: Annotated[
        ToolFormat, Query(alias="format", description="As which provider or protocol wants them")
    ] = ToolFormat.OPENAI,
) -> list[dict[str, Any]]:
    """Return the tools for a model, in the format of its provider.

    Only those that the key may use: a key of scope read may use tools that change nothing, a key of
    scope write those that erase no messages.
    """
    return written(tools_for(call.state.key), form)


@tool_routes.read.post("/agents/{agent}/tools/{tool}", responses=CONFLICT)
def use(
    agent: AgentId,
    tool: Annotated[str, Path(max_length=64, description="Name of a tool, as the model gave it")],
    arguments: Annotated[dict[str, Any], Body(description="As the model gave them")],
    call: Call,
    session_id: SessionId = None,
    form: WindowFormat = Format.MARKDOWN,
) -> dict[str, Any]:
    """Use a tool as the agent's model, and return the answer for the model.

    The permissions are those of the agent, and undo takes changes back. A tool that changes
    something needs a key of scope write, and one that erases messages a key of scope admin, as
    `/erase` does. Refusals are problems with a `detail` for the model.
    """
    named = tool_named(tool)
    call.check(scope_of(named))
    return audited(
        call,
        named,
        lambda: use_tool(call, agent, named, arguments, session_id, form),
    )
