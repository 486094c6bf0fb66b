"""Where a page may be put (P1, P5): checked before anything changes.

Pages go to other folders, out of the tree, and back into it (P2, P9).

New pages and segments, and what pages are called (P4).

Pages are opened and closed, and kept open (P4, P13).

The page of ``sys`` that explains ATTP to an agent, while that is on (P15).

Its text is derived, as interactions are: nothing of it is stored but its place, so that it always
tells of the tools that there are.
"""

from __future__ import annotations

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
    """Raise ``RefusedError``, which says why, unless a folder may take a page (None: a new one).

    ``between``: folders that are still to be made, one in the other, to hold the page.
    """
    check_permission(tree, folder, act, actor)
    if folder.cold:
        raise RefusedError(f"{folder.index} was removed from the context: restore_page first")
    above = 1 + sum(1 for _ in tree.ancestors(folder.index))
    if above + between + (_height(tree, page) if page else 1) > MAX_DEPTH:
        raise RefusedError(
            f"{folder.index} lies too deep: folders hold at most {MAX_DEPTH} levels; name one"
            " nearer to the root"
        )


def check_move(tree: Tree, page: Page, folder: Page, actor: Actor, *, between: int = 0) -> None:
    """Do as ``check_place``, and unless the page may leave where it lies (P5)."""
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


def _height(tree: Tree, page: Page) -> int:
    """Return how many levels a page and all below it take."""
    levels, pages = 0, [page]
    while pages:
        levels += 1
        pages = [below for each in pages for below in tree.children(each.index)]
    return levels


def move_page(tree: Tree, actor: Actor, *, source: str, target: str) -> Page:
    """Put a page, with all below it, behind the others of a folder (P2)."""
    page, folder = tree[source], tree[target]
    check_move(tree, page, folder, actor)
    if not all(each.expanded for each in (folder, *tree.ancestors(target)) if each.parent):
        check_current_stays_visible(tree, page, actor)
    return move_into(tree, page, folder)


def move_into(tree: Tree, page: Page, folder: Page) -> Page:
    """Do as ``move_page``, unchecked."""
    page = tree.in_chapter(tree[page.index])
    moved = replace(page, parent=folder.index, place=tree.take_place())
    return tree.put(moved)


def remove_page(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Take a page out of the tree with all below it; its messages stay (ColdArchived, P2)."""
    page = tree[index]
    check_permission(tree, page, Action.TAKE, actor)
    if page.cold:
        raise RefusedError(f"{index} is removed already")
    check_current_stays_visible(tree, page, actor)
    return remove_from_tree(tree, page)


def remove_from_tree(tree: Tree, page: Page) -> Page:
    """Do as ``remove_page``, unasked. Its place says when: what is removed later is behind it."""
    for each in list(tree.descendants(page.index)):
        tree.put(replace(each, cold=True))
    return tree.put(replace(tree[page.index], parent=None, place=tree.take_place()))


def recall_page(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Bring an archived page back to the end of the active chapter, opened, and count it (P9)."""
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
    """Put a removed page back, with all that was removed with it, behind a folder's others."""
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
    """Add a note, whose text ``give_text`` names (P14).

    It starts hidden, but for what is part of a system prompt (P3).
    """
    folder = tree[parent]
    check_place(tree, folder, Action.ADD, actor)
    return _add(tree, actor, folder, PageKind.DETAIL, name, description)


def set_text(tree: Tree, index: str, version: int, content_tokens: int = 0) -> Page:
    """Let a note show a text that the page store keeps as this version (P14), unasked."""
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
    """Add a folder, and move pages into it, in this order. It starts hidden, as a note does."""
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
    """Give a page another name or description, or both."""
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
    """Add a part of the context with a permission of its own; return its root (P4).

    Raises ``RefusedError`` for an agent, and when there are ``MOST_SEGMENTS`` already, and
    ``ConflictError`` when there is one of this id.
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
    return tree.add_page(
        Page(
            index="",
            kind=kind,
            segment=folder.segment,
            parent=folder.index,
            place=0,
            name=_name(name),
            description=_description(description),
            expanded=_starts_open(tree, folder),
            named=True,
            user_id=_made_for(tree, actor),
        )
    )


def _starts_open(tree: Tree, folder: Page) -> bool:
    """Tell whether what is made in a folder is seen at once: what is part of a system prompt is."""
    return tree.segment_of(folder).kind is SegmentKind.SYSTEM


def _made_for(tree: Tree, actor: Actor) -> str | None:
    """Return who is to see what is made: an agent speaks of its user, a developer to all."""
    return tree.viewer.user_id if actor is Actor.AGENT else None


def _name(text: str) -> str:
    line = one_line(text, LONGEST_NAME)
    if not line:
        raise InvalidInputError("a page needs a name", field="name")
    return line


def _description(text: str) -> str:
    return one_line(text, LONGEST_DESCRIPTION)


def expand_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Show what a page holds; hidden folders above it open, too, or nothing would be seen."""
    page = tree[index]
    check_permission(tree, page, Action.EXPAND, actor)
    _check_there(tree, page)
    for folder in list(tree.ancestors(index)):
        tree.put(replace(folder, expanded=True))
    recalls = replace(page.recalls, opened_at=tree.counters.interactions)
    return tree.put(replace(page, expanded=True, recalls=recalls))


def hide_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Show a page by its description alone, a folder by itself and the number of its pages."""
    page = tree[index]
    check_permission(tree, page, Action.HIDE, actor)
    if page.parent is not None:  # a root that is closed opens with the next interaction
        check_current_stays_visible(tree, page, actor)
    return tree.put(replace(page, expanded=False))


def pin_page(tree: Tree, actor: Actor, *, index: str, pinned: bool = True) -> Page:
    """Keep a page from being collapsed or archived by the system (P7, P13), or let it be again.

    What a developer has pinned stays so, whatever an agent asks.
    """
    page = tree[index]
    check_permission(tree, page, Action.EXPAND, actor)
    if pinned:
        _check_there(tree, page, "then it can be pinned")
    by_others = actor is Actor.AGENT and page.pinned_by == Actor.DEVELOPER
    if by_others and not pinned:
        raise RefusedError(f"{index} was pinned by the developer: only a developer can unpin it")
    if by_others:
        return page
    return tree.put(replace(page, pinned_by=actor.value if pinned else None))


def _check_there(tree: Tree, page: Page, then: str = "") -> None:
    """Refuse a page that lies in no part of the window that can be open; say what brings it back.

    ``then``: what can be done afterwards.
    """
    after = f", and {then}" if then else ""
    if page.cold:
        raise RefusedError(
            f"{page.index} was removed from the context: restore_page brings it back{after}"
        )
    if any(folder.index == tree.counters.archive for folder in tree.ancestors(page.index)):
        raise RefusedError(f"{page.index} is archived: recall_page brings it back{after}")


def set_attp_guide(tree: Tree, *, on: bool, name: str, description: str) -> None:
    """Have the guide in the tree, expanded, while it is on, and out of it else."""
    root = tree.segments[SYSTEM].root
    known = next((page for page in tree.children(root) if is_attp_guide(page)), None)
    if known is None:
        if on:
            _make(tree, root, name, description)
    elif not on:
        remove_from_tree(tree, known)
    else:
        tree.put(replace(known, name=name, description=description, expanded=True))


def _make(tree: Tree, root: str, name: str, description: str) -> None:
    tree.add_page(
        Page(
            index="",
            kind=PageKind.DETAIL,
            segment=SYSTEM,
            parent=root,
            place=0,
            name=name,
            description=description,
            expanded=True,
            managed=True,
            named=True,
        )
    )
