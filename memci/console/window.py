"""The context window as a tree of pages, and the tools of a model on it."""

from starlette.responses import Response

from memci.api_keys import Scope
from memci.commands import configure
from memci.console.visit import Visit
from memci.domain.pages.page import PageKind
from memci.domain.pages.permission import Actor
from memci.errors import InvalidInputError, RefusedError
from memci.schemas.pages import PageOut, WindowRequest
from memci.schemas.problems import Problem, problem_of

# Buttons of a page in the window, as tools of the agent; undo takes them back.
_ON_PAGE = ("expand_details", "hide_details", "pin_page", "unpin_page", "remove_page")
_ON_WINDOW = ("undo", "redo")
_MOVE = "move_page"


def _window(visit: Visit, refused: Problem | None = None) -> Response:
    windows, agent, session = visit.runtime.windows, visit.agent, visit.given("session")
    tree = windows.tree(agent, session_id=session)
    shown = windows.show(agent, visit.asked(WindowRequest, session_id=session))
    settings = configure.show(visit.runtime.page_commands, agent, visit.runtime.defaults)
    return visit.page(
        "window.html",
        refused=refused,
        tree=tree,
        window=shown,
        budget=settings.parameters["window_max_tokens"],
        depths=_depths(tree.pages),
        folders=[each for each in tree.pages if each.kind is PageKind.CONTENTS],
        session=session or "",
        opened=_text(visit, tree.pages),
    )


def _depths(pages: list[PageOut]) -> dict[str, int]:
    """Return the number of folders above each page; pages come after their folders."""
    depths: dict[str, int] = {}
    for page in pages:
        depths[page.index] = depths.get(page.parent or "", -1) + 1
    return depths


def _text(visit: Visit, pages: list[PageOut]) -> object:
    index = visit.given("page")
    if index not in {each.index for each in pages}:
        return None
    run = visit.runtime.tools.run
    return run(visit.agent, Actor.DEVELOPER, "get_page", {"index": index})


def _use(visit: Visit) -> Response:
    """Use a tool as the agent would, so that its undo takes the change back."""
    tool, session = visit.given("tool"), visit.given("session")
    arguments = {"index": visit.given("index")}
    if tool == _MOVE:
        arguments = {"source": visit.given("index"), "target": visit.given("target")}
    elif tool in _ON_WINDOW:
        arguments = {}
    elif tool not in _ON_PAGE:
        raise InvalidInputError("expected a tool of the window", field="tool")
    run, paying = visit.runtime.tools.run, visit.request.state.paying
    try:
        run(visit.agent, Actor.AGENT, tool, arguments, session_id=session, paying=paying)
    except RefusedError as error:  # such as nothing to undo
        return _window(visit, problem_of(error))
    return visit.back_to("agents", visit.agent, "window", session=session, done=tool)


PAGES = (("/agents/{agent}/window", _window, Scope.READ),)
ACTIONS = (("/agents/{agent}/window", _use, Scope.WRITE),)
