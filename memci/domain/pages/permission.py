"""Permission checks (P5): every refusal happens here, before anything changes."""

from collections.abc import Iterator
from enum import Enum, StrEnum, auto

from memci.domain.pages.page import SYSTEM, Lifecycle, Page, Permission
from memci.domain.pages.tree import Tree
from memci.errors import RefusedError


class Actor(StrEnum):
    """The requester of an operation."""

    AGENT = "agent"  # a model: ATTP, MCP, function schemas
    DEVELOPER = "developer"  # HTTP, client, CLI


class Action(Enum):
    """The kinds of operations that permissions distinguish."""

    EXPAND = auto()
    HIDE = auto()
    WRITE = auto()  # its name, description or text
    ADD = auto()  # a new page in it
    TAKE = auto()  # moved out of its folder or removed
    RECEIVE = auto()  # a page moved into it


_STRUCTURE = frozenset({Action.ADD, Action.TAKE, Action.RECEIVE})
_STAYS = "that stays open, and where it is"


def check_permission(tree: Tree, page: Page, act: Action, actor: Actor) -> None:
    """Raise ``RefusedError`` with the reason unless the actor has permission for the page."""
    if act is Action.TAKE and page.parent is None and not page.cold:
        raise RefusedError(f"{page.index} is the root of its segment: it stays where it is")
    if act in {Action.ADD, Action.RECEIVE} and not page.is_folder:
        raise RefusedError(f"{page.index} is no folder: name a contents page to put pages in")
    check_in_session(tree, page, actor)
    permission = permission_of(tree, page)
    if act is Action.EXPAND:
        return
    check_not_attp_guide(page)
    if actor is Actor.AGENT:
        _check_shared(tree, page, act)
        _check_pinned(tree, page, act)
    if act in _STRUCTURE and _is_managed(tree, page):
        raise RefusedError(_managed(tree, page))
    if actor is Actor.DEVELOPER or permission is Permission.READ_WRITE:
        return
    raise RefusedError(
        f"segment {page.segment!r} is {permission.value}: its pages can be expanded and read,"
        " not changed or hidden"
        if permission is Permission.READ_ONLY
        else _managed(tree, page)
    )


def check_in_session(tree: Tree, page: Page, actor: Actor) -> None:
    """Raise ``RefusedError`` if an agent would change a page of another session's chapter."""
    if actor is Actor.AGENT and tree.is_elsewhere(page):
        raise RefusedError(
            f"{page.index} lies in the conversation of another session: get_page reads it; once"
            " the Contents Page lists it, recall_page brings it here"
        )


def is_attp_guide(page: Page) -> bool:
    """Return True for the page that explains ATTP: the only managed page in ``sys``."""
    return page.managed and page.segment == SYSTEM


def check_not_attp_guide(page: Page) -> None:
    """Raise ``RefusedError`` for the page that explains ATTP (P15)."""
    if is_attp_guide(page):
        raise RefusedError(
            f"{page.index} explains ATTP, and the system keeps it as it is: it is there while attp"
            " is on in the agent's settings, which a developer can turn off"
        )


def _check_shared(tree: Tree, page: Page, act: Action) -> None:
    """Refuse to show a user's text to other users, and to move pages that others see."""
    viewer = tree.viewer
    if act is Action.WRITE and viewer.user_id is not None and page.user_id is None:
        raise RefusedError(f"all users see {page.index}: only a developer can name it")
    is_taken = act is Action.TAKE and not page.cold and viewer.user_id is not None
    if is_taken and _is_shared(tree, page):
        raise RefusedError(f"all users see {page.index}: only a developer can move or remove it")
    if act is Action.TAKE and not all(map(viewer.sees, tree.descendants(page.index))):
        raise RefusedError(f"other users file in {page.index}, too: only a developer can move it")


def _check_pinned(tree: Tree, page: Page, act: Action) -> None:
    """Refuse to hide or move a developer's pinned pages and the folders above them."""
    if act not in {Action.HIDE, Action.TAKE}:
        return
    for each in _pinned_by_developer(tree):
        if each.index == page.index:
            raise RefusedError(f"{page.index} was pinned by the developer: {_STAYS}")
        if page in tree.ancestors(each.index):
            what = each.index if tree.sees(each) else "a page"
            raise RefusedError(f"{page.index} holds {what} pinned by the developer: {_STAYS}")


def visible_developer_pins(tree: Tree) -> set[tuple[str, bool]]:
    """Return pages that a developer has pinned and that are active.

    As (index, False), and as (index, True) as well if the page is expanded. No operation of an
    agent may remove an element of this set.
    """
    return {
        (page.index, is_open)
        for page in _pinned_by_developer(tree)
        if tree.lifecycle(page.index) is Lifecycle.ACTIVE
        for is_open in {False, page.expanded}
    }


def _pinned_by_developer(tree: Tree) -> Iterator[Page]:
    return (
        page for page in tree.pages.values() if page.pinned_by == Actor.DEVELOPER and not page.cold
    )


def check_stays_shared(tree: Tree, page: Page, folder: Page, actor: Actor) -> None:
    """Raise ``RefusedError`` if an agent moves a shared page to one user's folder."""
    is_shared = page.user_id is None and tree.viewer.user_id is not None
    if actor is Actor.AGENT and is_shared and not _is_shared(tree, folder):
        raise RefusedError(f"all users see {page.index}: name a folder that all see, too")


def _is_shared(tree: Tree, page: Page) -> bool:
    return all(each.user_id is None for each in (page, *tree.ancestors(page.index)))


def check_current_stays_visible(tree: Tree, page: Page, actor: Actor) -> None:
    """Raise ``RefusedError`` if an agent would hide the interaction that it is answering.

    ``page`` is hidden, removed or moved into a hidden folder, with everything below it.
    """
    current = tree.latest(tree.viewer.session_id)
    if actor is Actor.DEVELOPER or current is None or current.cold:
        return
    if page.index == current.index or page in tree.ancestors(current.index):
        what = "is" if page.index == current.index else f"holds {current.index},"
        raise RefusedError(
            f"{page.index} {what} the interaction that you are answering: it stays in sight until"
            " the user's next message; hide or file others"
        )


def shows_current_interaction(tree: Tree) -> bool:
    """Return True if the current interaction and all folders above it are expanded."""
    current = tree.latest(tree.viewer.session_id)
    if current is None or current.cold:
        return current is None
    above = (each for each in tree.ancestors(current.index) if each.parent is not None)
    return all(each.expanded for each in (current, *above))


def permission_of(tree: Tree, page: Page) -> Permission:
    """Return the permission of a page: its segment's, or a stricter one of a parent folder."""
    if _is_managed(tree, page):
        return Permission.SYSTEM_MANAGED
    return tree.segment_of(page).permission


def _is_managed(tree: Tree, page: Page) -> bool:
    """Return True for pages that memci itself files: nobody else moves them."""
    return page.managed or any(folder.managed for folder in tree.ancestors(page.index))


def _managed(tree: Tree, page: Page) -> str:
    if page.index == tree.counters.archive:
        return (
            f"{page.index} is the Contents Page, which the system keeps in order: it can be"
            " expanded and read, and recall_page brings a page back"
        )
    if tree.is_archived(page):
        return f"{page.index} is archived: recall_page brings it back, and then it can be changed"
    return f"{page.index} is managed by the system: it can be expanded and read"
