"""What a page is like, in the plain words that models and people read of it (P2, P3)."""

from __future__ import annotations

from enum import StrEnum

from memci.domain.pages.page import Lifecycle
from memci.domain.pages.tree import Tree


class PageState(StrEnum):
    """How a page is seen, or where it is while it is not seen."""

    EXPANDED = "expanded"
    HIDDEN = "hidden"
    INSIDE_HIDDEN = "inside a hidden folder"
    ELSEWHERE = "in another session"  # in its active chapter: seen there alone
    ARCHIVED = "archived"  # the Contents Page lists it
    REMOVED = "removed"


def state_of(tree: Tree, index: str) -> PageState:
    """Return what a page is like; ``NotFoundError`` for none of this index."""
    page = tree[index]
    if tree.is_elsewhere(page):
        return PageState.ELSEWHERE
    match tree.lifecycle(index):
        case Lifecycle.COLD_ARCHIVED:
            return PageState.REMOVED
        case Lifecycle.HOT_ARCHIVED:
            is_listed = any(tree.is_archived(each) for each in (page, *tree.ancestors(index)))
            return PageState.ARCHIVED if is_listed else PageState.INSIDE_HIDDEN
        case Lifecycle.ACTIVE:
            return PageState.EXPANDED if page.expanded else PageState.HIDDEN
