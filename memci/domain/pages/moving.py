"""Pages go to other folders, out of the tree, and back into it (P2, P9)."""

from __future__ import annotations

from dataclasses import replace

from memci.domain.pages.page import Page, Recalls
from memci.domain.pages.permission import (
    Act,
    Actor,
    check,
    check_in_sight,
    check_no_guide,
    check_stays_shared,
)
from memci.domain.pages.places import check_move, check_place
from memci.domain.pages.segment import USER
from memci.domain.pages.tree import Tree
from memci.errors import RefusedError


def move_page(tree: Tree, actor: Actor, *, source: str, target: str) -> Page:
    """Put a page, with all below it, behind the others of a folder (P2)."""
    page, folder = tree[source], tree[target]
    check_move(tree, page, folder, actor)
    if not all(each.expanded for each in (folder, *tree.ancestors(target)) if each.parent):
        check_in_sight(tree, page, actor)
    return move_into(tree, page, folder)


def move_into(tree: Tree, page: Page, folder: Page) -> Page:
    """Do as ``move_page``, unchecked."""
    page = tree.in_chapter(tree[page.index])
    moved = replace(page, parent=folder.index, place=tree.take_place())
    return tree.put(moved)


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
        tree.put(replace(each, cold=True))
    return tree.put(replace(tree[page.index], parent=None, place=tree.take_place()))


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
    check_place(tree, folder, Act.RECEIVE, actor, page)
    check_stays_shared(tree, page, folder, actor)
    now = tree.clock.interactions
    recalls = replace(page.recalls, entered_at=now) if page.span else Recalls()
    back = tree.in_chapter(page)
    tree.put(replace(back, parent=parent, place=tree.take_place(), recalls=recalls))
    for each in list(tree.descendants(index)):
        tree.put(replace(each, cold=False))
    return tree[index]
