"""Operations on pages (P1 to P9): each checks everything before it changes anything."""

from collections.abc import Sequence
from dataclasses import replace

from memci.domain.pages.page import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    MAX_DEPTH,
    MOST_SEGMENTS,
    SYSTEM,
    USER,
    Page,
    PageKind,
    Permission,
    RecallStats,
    Segment,
    SegmentKind,
    one_line,
)
from memci.domain.pages.permission import (
    Action,
    Actor,
    check_current_stays_visible,
    check_not_attp_guide,
    check_permission,
    check_stays_shared,
    is_attp_guide,
)
from memci.domain.pages.pins import PINS
from memci.domain.pages.tree import Tree
from memci.errors import ConflictError, InvalidInputError, RefusedError


def check_place(
    tree: Tree,
    folder: Page,
    act: Action,
    actor: Actor,
    page: Page | None = None,
    *,
    between: int = 0,
) -> None:
    """Raise ``RefusedError`` with the reason unless a page (None: a new one) may go into a folder.

    ``between``: number of folders still to be created, nested, between the folder and the page.
    """
    check_permission(tree, folder, act, actor)
    if folder.cold:
        raise RefusedError(f"{folder.index} was removed from the context: restore_page first")
    levels = 1 + sum(1 for _ in tree.ancestors(folder.index)) + between
    if levels + (tree.levels_from(page) if page else 1) > MAX_DEPTH:
        raise RefusedError(
            f"{folder.index} lies too deep: folders hold at most {MAX_DEPTH} levels; name one"
            " nearer to the root"
        )


def check_move(tree: Tree, page: Page, folder: Page, actor: Actor, *, between: int = 0) -> None:
    """Check as ``check_place`` does, and that the page may leave its folder (P5)."""
    check_permission(tree, page, Action.TAKE, actor)
    check_place(tree, folder, Action.RECEIVE, actor, page, between=between)
    if page.cold:
        raise RefusedError(f"{page.index} was removed from the context: restore_page first")
    if page.segment != folder.segment:
        raise RefusedError(
            f"{page.index} belongs to segment {page.segment!r} and stays there: its index says so"
        )
    if folder.index == page.index or page in tree.ancestors(folder.index):
        raise RefusedError(f"{page.index} cannot be moved below itself")


def move_page(tree: Tree, actor: Actor, *, source: str, target: str) -> Page:
    """Move a page and everything below it to the end of a folder (P2)."""
    page, folder = tree[source], tree[target]
    check_move(tree, page, folder, actor)
    if not all(each.expanded for each in (folder, *tree.ancestors(target)) if each.parent):
        check_current_stays_visible(tree, page, actor)
    return move_into(tree, page, folder)


def move_into(tree: Tree, page: Page, folder: Page) -> Page:
    """Move a page as ``move_page`` does, without checks."""
    page = tree.in_chapter(tree[page.index])
    moved = replace(page, parent=folder.index, place=tree.take_place())
    return tree.put(moved)


def remove_page(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Remove a page and everything below it; its messages are kept (ColdArchived, P2)."""
    page = tree[index]
    check_permission(tree, page, Action.TAKE, actor)
    if page.cold:
        raise RefusedError(f"{index} is removed already")
    check_current_stays_visible(tree, page, actor)
    return remove_from_tree(tree, page)


def remove_from_tree(tree: Tree, page: Page) -> Page:
    """Remove a page as ``remove_page`` does, without checks. Later removals get a higher place."""
    for each in list(tree.descendants(page.index)):
        tree.put(replace(each, cold=True))
    return tree.put(replace(tree[page.index], parent=None, place=tree.take_place()))


def recall_page(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Move an archived page to the end of the active chapter, expand and count it (P9)."""
    page = tree[index]
    check_permission(tree, page, Action.EXPAND, actor)
    if page.parent is None or page.parent != tree.counters.archive:
        raise RefusedError(
            f"{index} is not archived: expand_details opens it, restore_page brings a removed"
            " page back"
        )
    now = tree.counters.interactions
    recalls = replace(page.recalls, count=page.recalls.count + 1, last_at=now, entered_at=now)
    return tree.put(
        replace(
            tree.in_chapter(page),
            parent=tree.segments[USER].root,
            place=tree.take_place(),
            expanded=True,
            recalls=recalls,
        )
    )


def restore_page(tree: Tree, actor: Actor, *, index: str, parent: str) -> Page:
    """Move a removed page, and all pages removed with it, to the end of a folder."""
    page, folder = tree[index], tree[parent]
    check_not_attp_guide(page)
    if not page.cold:
        raise RefusedError(f"{index} was not removed: move_page puts it elsewhere")
    if page.parent is not None:
        top = [page, *tree.ancestors(index)][-1]
        raise RefusedError(f"{index} was removed within {top.index}: restore that page")
    if folder.segment != page.segment:
        raise RefusedError(
            f"{index} belongs to segment {page.segment!r}: name a folder of that segment"
        )
    check_place(tree, folder, Action.RECEIVE, actor, page)
    check_stays_shared(tree, page, folder, actor)
    now = tree.counters.interactions
    recalls = replace(page.recalls, entered_at=now) if page.span else RecallStats()
    back = tree.in_chapter(page)
    tree.put(replace(back, parent=parent, place=tree.take_place(), recalls=recalls))
    for each in list(tree.descendants(index)):
        tree.put(replace(each, cold=False))
    return tree[index]


def create_detail_page(
    tree: Tree, actor: Actor, *, name: str, description: str, parent: str
) -> Page:
    """Add a note without text (see ``set_text``); expanded only in a system segment (P3)."""
    folder = tree[parent]
    check_place(tree, folder, Action.ADD, actor)
    return _add(tree, actor, folder, PageKind.DETAIL, name, description)


def set_text(tree: Tree, index: str, version: int, content_tokens: int = 0) -> Page:
    """Set the version of a note's text in the page store (P14), without checks."""
    return tree.put(replace(tree[index], text_version=version, content_tokens=content_tokens))


def create_contents_page(
    tree: Tree,
    actor: Actor,
    *,
    name: str,
    description: str,
    parent: str,
    children: Sequence[str] = (),
) -> Page:
    """Add a folder and move pages into it in this order; expanded only in a system segment."""
    folder = tree[parent]
    check_place(tree, folder, Action.ADD, actor)
    for child in dict.fromkeys(children):
        check_move(tree, tree[child], folder, actor, between=1)
        if not _starts_open(tree, folder):
            check_current_stays_visible(tree, tree[child], actor)
    made = _add(tree, actor, folder, PageKind.CONTENTS, name, description)
    for child in dict.fromkeys(children):
        move_into(tree, tree[child], made)
    return made


def update_page(
    tree: Tree, actor: Actor, *, index: str, name: str | None = None, description: str | None = None
) -> Page:
    """Change the name or the description of a page, or both."""
    page = tree[index]
    check_permission(tree, page, Action.WRITE, actor)
    if name is None and description is None:
        raise InvalidInputError("give a name or a description to change", field="name")
    return tree.put(
        replace(
            page,
            name=page.name if name is None else _name(name),
            description=page.description if description is None else _description(description),
            named=True,
        )
    )


def create_segment(
    tree: Tree,
    actor: Actor,
    *,
    id: str,  # noqa: A002 - as callers know it
    name: str,
    kind: SegmentKind,
    permission: Permission,
    max_tokens: int = 0,
) -> Page:
    """Add a segment and return its root page (P4).

    Raises ``RefusedError`` for an agent and beyond ``MOST_SEGMENTS``, and ``ConflictError`` if the
    id is taken.
    """
    if actor is Actor.AGENT:
        raise RefusedError("segments are made by developers alone")
    if id in {*tree.segments, PINS}:
        raise ConflictError(f"there is a segment {id!r} already: choose another id")
    if len(tree.segments) >= MOST_SEGMENTS:
        raise RefusedError(
            f"an agent has at most {MOST_SEGMENTS} segments: make a folder in one that it has"
        )
    segment = Segment(id, kind, permission, _name(name), max_tokens)
    tree.add_segment(segment)
    return tree[segment.root]


def _add(
    tree: Tree, actor: Actor, folder: Page, kind: PageKind, name: str, description: str
) -> Page:
    page = Page("", kind, folder.segment, folder.index, 0, _name(name), _description(description))
    # The agent's current user sees it; all users see pages of a developer.
    user = tree.viewer.user_id if actor is Actor.AGENT else None
    return tree.add_page(
        replace(page, expanded=_starts_open(tree, folder), named=True, user_id=user)
    )


def _starts_open(tree: Tree, folder: Page) -> bool:
    """Return True if new pages in the folder start expanded: those of system prompts do."""
    return tree.segment_of(folder).kind is SegmentKind.SYSTEM


def _name(text: str) -> str:
    line = one_line(text, LONGEST_NAME)
    if not line:
        raise InvalidInputError("a page needs a name", field="name")
    return line


def _description(text: str) -> str:
    return one_line(text, LONGEST_DESCRIPTION)


def expand_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Expand a page and all folders above it."""
    page = tree[index]
    check_permission(tree, page, Action.EXPAND, actor)
    _check_in_tree(tree, page)
    for folder in list(tree.ancestors(index)):
        tree.put(replace(folder, expanded=True))
    recalls = replace(page.recalls, opened_at=tree.counters.interactions)
    return tree.put(replace(page, expanded=True, recalls=recalls))


def hide_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Show only the description of a page, or only the number of pages of a folder."""
    page = tree[index]
    check_permission(tree, page, Action.HIDE, actor)
    if page.parent is not None:  # a root that is closed opens with the next interaction
        check_current_stays_visible(tree, page, actor)
    return tree.put(replace(page, expanded=False))


def pin_page(tree: Tree, actor: Actor, *, index: str, pinned: bool = True) -> Page:
    """Pin a page, so that the system neither collapses nor archives it (P7, P13), or unpin it."""
    page = tree[index]
    check_permission(tree, page, Action.EXPAND, actor)
    if pinned:
        _check_in_tree(tree, page, "then it can be pinned")
    if actor is Actor.AGENT and page.pinned_by == Actor.DEVELOPER:
        if pinned:
            return page
        raise RefusedError(f"{index} was pinned by the developer: only a developer can unpin it")
    return tree.put(replace(page, pinned_by=actor.value if pinned else None))


def _check_in_tree(tree: Tree, page: Page, then: str = "") -> None:
    """Refuse a removed or archived page and explain its return; ``then``: the next step."""
    after = f", and {then}" if then else ""
    if page.cold:
        raise RefusedError(
            f"{page.index} was removed from the context: restore_page brings it back{after}"
        )
    if any(folder.index == tree.counters.archive for folder in tree.ancestors(page.index)):
        raise RefusedError(f"{page.index} is archived: recall_page brings it back{after}")


def set_attp_guide(tree: Tree, *, on: bool, name: str, description: str) -> None:
    """Add the page that explains ATTP, expanded, or remove it if ATTP is not ``on`` (P15)."""
    root = tree.segments[SYSTEM].root
    guide = next((page for page in tree.children(root) if is_attp_guide(page)), None)
    if guide is None:
        if on:
            page = Page("", PageKind.DETAIL, SYSTEM, root, 0, name, description, expanded=True)
            tree.add_page(replace(page, managed=True, named=True))
    elif on:
        tree.put(replace(guide, name=name, description=description, expanded=True))
    else:
        remove_from_tree(tree, guide)
