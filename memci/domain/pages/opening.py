"""Pages are opened and closed, and kept open (P4, P13)."""

from __future__ import annotations

from dataclasses import replace

from memci.domain.pages.page import Page
from memci.domain.pages.permission import Act, Actor, check, check_in_sight
from memci.domain.pages.tree import Tree
from memci.errors import RefusedError


def expand_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Show what a page holds; hidden folders above it open, too, or nothing would be seen."""
    page = tree[index]
    check(tree, page, Act.EXPAND, actor)
    _check_there(tree, page)
    for folder in list(tree.ancestors(index)):
        tree.put(replace(folder, expanded=True))
    recalls = replace(page.recalls, opened_at=tree.clock.interactions)
    return tree.put(replace(page, expanded=True, recalls=recalls))


def hide_details(tree: Tree, actor: Actor, *, index: str) -> Page:
    """Show a page by its description alone, a folder by itself and the number of its pages."""
    page = tree[index]
    check(tree, page, Act.HIDE, actor)
    if page.parent is not None:  # a root that is closed opens with the next interaction
        check_in_sight(tree, page, actor)
    return tree.put(replace(page, expanded=False))


def pin_page(tree: Tree, actor: Actor, *, index: str, pinned: bool = True) -> Page:
    """Keep a page from being collapsed or archived by the system (P7, P13), or let it be again.

    What a developer has pinned stays so, whatever an agent asks.
    """
    page = tree[index]
    check(tree, page, Act.EXPAND, actor)
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
    if any(folder.index == tree.clock.archive for folder in tree.ancestors(page.index)):
        raise RefusedError(f"{page.index} is archived: recall_page brings it back{after}")
