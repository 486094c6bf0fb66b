"""Where a page may be put (P1, P5): checked before anything changes."""

from __future__ import annotations

from memci.domain.pages.page import DEEPEST, Page
from memci.domain.pages.permission import Act, Actor, check
from memci.domain.pages.tree import Tree
from memci.errors import RefusedError


def check_place(
    tree: Tree,
    folder: Page,
    act: Act,
    actor: Actor,
    page: Page | None = None,
    *,
    between: int = 0,
) -> None:
    """Raise ``RefusedError``, which says why, unless a folder may take a page (None: a new one).

    ``between``: folders that are still to be made, one in the other, to hold the page.
    """
    check(tree, folder, act, actor)
    if folder.cold:
        raise RefusedError(f"{folder.index} was removed from the context: restore_page first")
    above = 1 + sum(1 for _ in tree.ancestors(folder.index))
    if above + between + (_height(tree, page) if page else 1) > DEEPEST:
        raise RefusedError(
            f"{folder.index} lies too deep: folders hold at most {DEEPEST} levels; name one nearer"
            " to the root"
        )


def check_move(tree: Tree, page: Page, folder: Page, actor: Actor, *, between: int = 0) -> None:
    """Do as ``check_place``, and unless the page may leave where it lies (P5)."""
    check(tree, page, Act.TAKE, actor)
    check_place(tree, folder, Act.RECEIVE, actor, page, between=between)
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
