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
    if page.cold:
        raise RefusedError(f"{index} was removed from the context: restore_page brings it back")
    above = list(tree.ancestors(index))
    if any(folder.index == tree.clock.archive for folder in above):
        raise RefusedError(f"{index} is archived: recall_page brings it back")
    for folder in above:
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
    return tree.put(replace(page, pinned_by=actor.value if pinned else None))
