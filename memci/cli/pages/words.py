"""Pages in a few words."""

from __future__ import annotations

from collections.abc import Iterable

from memci.cli.output import counted
from memci.domain.pages.page import PageKind
from memci.shapes.pages import PageOut


def state_of(page: PageOut) -> str:
    """Return what state a page is in: "expanded, 3 pages, pinned"."""
    return ", ".join(_state(page))


def tokens(count: int) -> str:
    """Return how many tokens these are: "1 token", "1,200 tokens"."""
    return f"{count:,} token" if count == 1 else f"{count:,} tokens"


def listed(indexes: Iterable[str], most: int = 10) -> str:
    """Return indexes in a row; of many the first ones, and how many more there are."""
    every = list(indexes)
    more = len(every) - most
    return ", ".join([*every[:most], *([f"{more} more"] if more > 0 else [])])


def _state(page: PageOut) -> Iterable[str]:
    yield page.state
    if page.kind is PageKind.CONTENTS:
        yield counted(page.children, "page")
    if page.pinned:
        yield "pinned"
    if page.recalls:
        yield f"recalled {counted(page.recalls, 'time')}"
