"""Pages and the context window (page-tree.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.convertors import Convertor, register_url_convertor

from memci.commands.pages.perform import ToolRequest
from memci.domain.pages.block import Format
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.permission import Actor
from memci.errors import InvalidInputError
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, SessionId, WindowFormat
from memci.http.routing import ReadRoute, WriteRoute
from memci.schemas.base import Request
from memci.schemas.page_tools import GetPage
from memci.schemas.pages import PageText, PageTree, WindowAnswer, WindowRequest
from memci.schemas.tools import BY_NAME, TOOLS, About, Tool


class _PageIndex(Convertor[str]):
    """What is an index: names of operations stand in the same place of other paths."""

    regex = r"[a-z][a-z0-9_]{0,31}-[0-9]{1,15}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("page_index", _PageIndex())
reading = APIRouter(prefix="/v1", tags=["pages"], route_class=ReadRoute, responses=problems(404))
writing = APIRouter(
    prefix="/v1", tags=["pages"], route_class=WriteRoute, responses=problems(404, 403)
)


@reading.get("/agents/{agent}/window")
def get_window(
    agent: AgentId,
    call: Call,
    budget_tokens: Annotated[
        int | None,
        Query(ge=1, le=2_000_000, description="Tokens at most; none: the agent's own limit"),
    ] = None,
    form: Annotated[Format, Query(alias="format")] = Format.MARKDOWN,
    session_id: SessionId = None,
) -> WindowAnswer:
    """Return the context window of a session as messages; none: that of the last message."""
    asked = WindowRequest(session_id=session_id, budget_tokens=budget_tokens, format=form)
    return call.runtime.windows.show(agent, asked)


@reading.get("/agents/{agent}/pages")
def list_pages(
    agent: AgentId,
    call: Call,
    session_id: SessionId = None,
    lifecycle: Annotated[
        Lifecycle | None,
        Query(
            description="Only such pages; none: all but removed ones. hot_archived: archived, or"
            " inside a hidden folder; cold_archived: removed"
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=500, description="Removed pages at most")] = 100,
) -> PageTree:
    """Return the tree as a session's window sees it, in order; none: that of the last message.

    What was removed (`cold_archived`) is listed page by page, the latest first; each stands for all
    that was removed with it.
    """
    windows = call.runtime.windows
    if lifecycle is Lifecycle.COLD_ARCHIVED:
        return windows.removed(agent, session_id=session_id, cursor=cursor, limit=limit)
    if cursor is not None:
        raise InvalidInputError("only what was removed is listed by cursor", field="cursor")
    return windows.tree(agent, session_id=session_id, lifecycle=lifecycle)


@reading.get("/agents/{agent}/pages/{index:page_index}")
def read_page(agent: AgentId, index: Annotated[str, Path(max_length=64)], call: Call) -> PageText:
    """Return a page and what it holds, in whichever state it is."""
    request = GetPage.model_construct(index=index, offset=0)
    page: PageText = _done(call, agent, BY_NAME["get_page"], request)
    return page


def _endpoint(tool: Tool) -> Callable[..., Any]:
    def do(
        agent: AgentId,
        request: Any,
        call: Call,
        session_id: SessionId = None,
        form: WindowFormat = Format.MARKDOWN,
    ) -> Any:
        return _done(call, agent, tool, request, session_id, form)

    def do_plainly(
        agent: AgentId,
        call: Call,
        session_id: SessionId = None,
        form: WindowFormat = Format.MARKDOWN,
    ) -> Any:
        return _done(call, agent, tool, tool.request(), session_id, form)

    endpoint = do if tool.request.model_fields else do_plainly
    endpoint.__name__ = tool.name
    endpoint.__doc__ = tool.help
    endpoint.__annotations__ |= {"return": tool.answer}
    if endpoint is do:
        endpoint.__annotations__["request"] = tool.request
    return endpoint


def _done(
    call: Call,
    agent: str,
    tool: Tool,
    request: Request,
    session: str | None = None,
    form: Format = Format.MARKDOWN,
) -> Any:
    commands, asked = call.runtime.page_commands, [ToolRequest(tool, request)]
    return commands.run(agent, Actor.DEVELOPER, asked, session_id=session, form=form)[0]


for _tool in TOOLS:
    if _tool.about is About.PAGES:
        (writing if _tool.changes else reading).add_api_route(
            f"/agents/{{agent}}/pages/{_tool.name}",
            _endpoint(_tool),
            methods=["POST"],
            name=_tool.name,
            responses=problems(400, 409, 413, 415) if _tool.request.model_fields else problems(409),
        )
