"""New pages and segments, and what pages are called (P4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memci.domain.pages.moving import move_into
from memci.domain.pages.page import LONGEST_DESCRIPTION, LONGEST_NAME, Page, PageKind, one_line
from memci.domain.pages.permission import Act, Actor, check, check_in_sight
from memci.domain.pages.pin import PINS
from memci.domain.pages.places import check_move, check_place
from memci.domain.pages.segment import MOST_SEGMENTS, Permission, Segment, SegmentKind
from memci.domain.pages.tree import Tree
from memci.errors import ConflictError, InvalidInputError, RefusedError


def create_detail_page(
    tree: Tree, actor: Actor, *, name: str, description: str, parent: str
) -> Page:
    """Add a note, whose text ``give_text`` names (P14).

    It starts hidden, but for what is part of a system prompt (P3).
    """
    folder = tree[parent]
    check_place(tree, folder, Act.ADD, actor)
    return _add(tree, actor, folder, PageKind.DETAIL, name, description)


def give_text(tree: Tree, index: str, version: int, held_tokens: int = 0) -> Page:
    """Let a note show a text that the page store keeps as this version (P14), unasked."""
    return tree.put(replace(tree[index], body=version, held_tokens=held_tokens))


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
    check_place(tree, folder, Act.ADD, actor)
    for child in dict.fromkeys(children):
        check_move(tree, tree[child], folder, actor, between=1)
        if not _starts_open(tree, folder):
            check_in_sight(tree, tree[child], actor)
    made = _add(tree, actor, folder, PageKind.CONTENTS, name, description)
    for child in dict.fromkeys(children):
        move_into(tree, tree[child], made)
    return made


def update_page(
    tree: Tree, actor: Actor, *, index: str, name: str | None = None, description: str | None = None
) -> Page:
    """Give a page another name or description, or both."""
    page = tree[index]
    check(tree, page, Act.WRITE, actor)
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
