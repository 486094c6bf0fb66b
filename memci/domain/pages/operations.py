"""What agents and developers do with pages (P4): each checks first, then changes, or raises.

Every operation changes the tree alone, without looking at messages, and returns the page that it
was about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memci.domain.pages.page import (
    DEEPEST,
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    Page,
    PageKind,
    Recalls,
    one_line,
)
from memci.domain.pages.permission import Act, Actor, check, check_in_sight, check_no_guide
from memci.domain.pages.pin import PINS
from memci.domain.pages.tree import USER, Permission, Segment, SegmentKind, Tree
from memci.errors import ConflictError, InvalidInputError, RefusedError


def create_detail_page(
    tree: Tree, actor: Actor, *, name: str, description: str, parent: str
) -> Page:
    """Add a note, whose text ``give_text`` names (P14).

    It starts hidden, but for what is part of a system prompt (P3).
    """
    folder = tree[parent]
    _check_place(tree, folder, Act.ADD, actor)
    return tree.add_page(
        Page(
            index="",
            kind=PageKind.DETAIL,
            segment=folder.segment,
            parent=parent,
            place=0,
            name=_name(name),
            description=_description(description),
            expanded=_starts_open(tree, folder),
            named=True,
            user_id=_made_for(tree, actor),
        )
    )


def give_text(tree: Tree, index: str, version: int, held_tokens: int = 0) -> Page:
    """Let a note show a text that the page store keeps as this version (P14), unasked."""
    return _put(tree, replace(tree[index], body=version, held_tokens=held_tokens))


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
    _check_place(tree, folder, Act.ADD, actor)
    for child in dict.fromkeys(children):
        _check_move(tree, tree[child], folder, actor, between=1)
        if not _starts_open(tree, folder):
            check_in_sight(tree, tree[child], actor)
    made = tree.add_page(
        Page(
            index="",
            kind=PageKind.CONTENTS,
            segment=folder.segment,
            parent=parent,
            place=0,
            name=_name(name),
            description=_description(description),
            expanded=_starts_open(tree, folder),
            named=True,
            user_id=_made_for(tree, actor),
        )
    )
    for child in dict.fromkeys(children):
        _move(tree, tree[child], made)
    return made


def move_page(tree: Tree, actor: Actor, *, source: str, target: str) -> Page:
    """Put a page, with all below it, behind the others of a folder (P2)."""
    page, folder = tree[source], tree[target]
    _check_move(tree, page, folder, actor)
    if not all(each.expanded for each in (folder, *tree.ancestors(target)) if each.parent):
        check_in_sight(tree, page, actor)
    return _move(tree, page, folder)


def update_page(
    tree: Tree, actor: Actor, *, index: str, name: str | None = None, description: str | None = None
) -> Page:
    """Give a page another name or description, or both."""
    page = tree[index]
    check(tree, page, Act.WRITE, actor)
    if name is None and description is None:
        raise InvalidInputError("give a name or a description to change", field="name")
    return _put(
        tree,
        replace(
            page,
            name=page.name if name is None else _name(name),
            description=page.description if description is None else _description(description),
            named=True,
        ),
    )


def expand_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Show what a page holds; hidden folders above it open, too, or nothing would be seen."""
    page = tree[index]
    check(tree, page, Act.EXPAND, actor)
    if page.cold:
        raise RefusedError(f"{index} was removed from the context: restore_page brings it back")
    above = list(tree.ancestors(index))
    if any(folder.index == tree.clock.archive for folder in above):
        raise RefusedError(f"{index} is archived: recall_page brings it back")
    for folder in above:
        _put(tree, replace(folder, expanded=True))
    recalls = replace(page.recalls, opened_at=tree.clock.interactions)
    return _put(tree, replace(page, expanded=True, recalls=recalls))


def hide_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Show a page by its description alone, a folder by itself and the number of its pages."""
    page = tree[index]
    check(tree, page, Act.HIDE, actor)
    if page.parent is not None:  # a root that is closed opens with the next interaction
        check_in_sight(tree, page, actor)
    return _put(tree, replace(page, expanded=False))


def remove_page(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Take a page out of the tree with all below it; its messages stay (ColdArchived, P2)."""
    page = tree[index]
    check(tree, page, Act.TAKE, actor)
    if page.cold:
        raise RefusedError(f"{index} is removed already")
    check_in_sight(tree, page, actor)
    return take_out(tree, page)


def take_out(tree: Tree, page: Page) -> Page:
    """Do as ``remove_page``, unasked. Its place says when: what is removed later is behind it."""
    for each in list(tree.descendants(page.index)):
        _put(tree, replace(each, cold=True))
    return _put(tree, replace(tree[page.index], parent=None, place=tree.take_place()))


def recall_page(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Bring an archived page back to the end of the active chapter, opened, and count it (P9)."""
    page = tree[index]
    check(tree, page, Act.EXPAND, actor)
    if page.parent is None or page.parent != tree.clock.archive:
        raise RefusedError(
            f"{index} is not archived: expand_details opens it, restore_page brings a removed"
            " page back"
        )
    now = tree.clock.interactions
    recalls = replace(page.recalls, count=page.recalls.count + 1, last_at=now, entered_at=now)
    return _put(
        tree,
        replace(
            tree.in_chapter(page),
            parent=tree.segments[USER].root,
            place=tree.take_place(),
            expanded=True,
            recalls=recalls,
        ),
    )


def restore_page(tree: Tree, actor: Actor, *, index: str, parent: str) -> Page:
    """Put a removed page back, with all that was removed with it, behind a folder's others."""
    page, folder = tree[index], tree[parent]
    check_no_guide(page)
    if not page.cold:
        raise RefusedError(f"{index} was not removed: move_page puts it elsewhere")
    if page.parent is not None:
        top = [page, *tree.ancestors(index)][-1]
        raise RefusedError(f"{index} was removed within {top.index}: restore that page")
    if folder.segment != page.segment:
        raise RefusedError(
            f"{index} belongs to segment {page.segment!r}: name a folder of that segment"
        )
    _check_place(tree, folder, Act.RECEIVE, actor, page)
    now = tree.clock.interactions
    recalls = replace(page.recalls, entered_at=now) if page.span else Recalls()
    back = tree.in_chapter(page)
    _put(tree, replace(back, parent=parent, place=tree.take_place(), recalls=recalls))
    for each in list(tree.descendants(index)):
        _put(tree, replace(each, cold=False))
    return tree[index]


def pin_page(tree: Tree, actor: Actor, *, index: str, pinned: bool = True) -> Page:
    """Keep a page from being collapsed by the system (P13), or let it be again.

    What a developer has pinned stays so, whatever an agent asks.
    """
    page = tree[index]
    check(tree, page, Act.EXPAND, actor)
    by_others = actor is Actor.AGENT and page.pinned_by == Actor.DEVELOPER
    if by_others and not pinned:
        raise RefusedError(f"{index} was pinned by the developer, and stays open")
    if by_others:
        return page
    return _put(tree, replace(page, pinned_by=actor.value if pinned else None))


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

    Raises ``RefusedError`` for an agent, and ``ConflictError`` when there is one of this id.
    """
    if actor is Actor.AGENT:
        raise RefusedError("segments are made by developers alone")
    if id in {*tree.segments, PINS}:
        raise ConflictError(f"there is a segment {id!r} already: choose another id")
    segment = Segment(id, kind, permission, _name(name), max_tokens)
    tree.add_segment(segment)
    return tree[segment.root]


def _starts_open(tree: Tree, folder: Page) -> bool:
    """Tell whether what is made in a folder is seen at once: what is part of a system prompt is."""
    return tree.segment_of(folder).kind is SegmentKind.SYSTEM


def _check_place(
    tree: Tree,
    folder: Page,
    act: Act,
    actor: Actor,
    page: Page | None = None,
    *,
    between: int = 0,
) -> None:
    """``between``: folders that are still to be made, one in the other, to hold the page."""
    check(tree, folder, act, actor)
    if folder.cold:
        raise RefusedError(f"{folder.index} was removed from the context: restore_page first")
    above = 1 + sum(1 for _ in tree.ancestors(folder.index))
    if above + between + (_height(tree, page) if page else 1) > DEEPEST:
        raise RefusedError(
            f"{folder.index} lies too deep: folders hold at most {DEEPEST} levels; name one nearer"
            " to the root"
        )


def _height(tree: Tree, page: Page) -> int:
    """Return how many levels a page and all below it take."""
    levels, pages = 0, [page]
    while pages:
        levels += 1
        pages = [below for each in pages for below in tree.children(each.index)]
    return levels


def _check_move(tree: Tree, page: Page, folder: Page, actor: Actor, *, between: int = 0) -> None:
    check(tree, page, Act.TAKE, actor)
    _check_place(tree, folder, Act.RECEIVE, actor, page, between=between)
    if page.cold:
        raise RefusedError(f"{page.index} was removed from the context: restore_page first")
    if page.segment != folder.segment:
        raise RefusedError(
            f"{page.index} belongs to segment {page.segment!r} and stays there: its index says so"
        )
    if folder.index == page.index or page in tree.ancestors(folder.index):
        raise RefusedError(f"{page.index} cannot be moved below itself")


def _move(tree: Tree, page: Page, folder: Page) -> Page:
    page = tree.in_chapter(tree[page.index])
    moved = replace(page, parent=folder.index, place=tree.take_place())
    return _put(tree, moved)


def _put(tree: Tree, page: Page) -> Page:
    tree.put(page)
    return page


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
