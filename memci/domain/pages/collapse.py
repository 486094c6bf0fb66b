"""Keeping the window inside its budget by hiding pages (P13): no model, and nothing is lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from memci.domain.pages.page import Page
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules
from memci.domain.pages.tree import SYSTEM


@dataclass(frozen=True, slots=True)
class Collapse:
    """What was hidden, in that order, and what the window took before and takes now.

    ``over``: by how many tokens what must stay is larger than the budget; 0: it fits.
    """

    hidden: tuple[str, ...]
    before: int
    after: int
    over: int


def auto_collapse(
    rendering: Rendering, rules: PageRules, kept: Collection[str] = ()
) -> Collapse | None:
    """Collapse to ``low`` of the budget when the window is above ``high`` of it; else None."""
    if rendering.tokens() <= rules.high * rules.window_max_tokens:
        return None
    return collapse_to(rendering, int(rules.low * rules.window_max_tokens), kept)


def collapse_to(rendering: Rendering, max_tokens: int, kept: Collection[str] = ()) -> Collapse:
    """Hide expanded pages until the window takes at most so many tokens.

    Never hidden are ``sys``, the session's current interaction, what is pinned or ``kept`` (the
    current step of a plan), and the folders above these. Old, long, never recalled ones go first.
    """
    tree, stay = rendering.tree, _staying(rendering, kept)
    before, notice = rendering.tokens(), tree.clock.notice
    hidden: list[str] = []
    for page in sorted(_open_pages(rendering, stay), key=lambda each: _loss(rendering, each)):
        if _tokens(rendering, hidden or notice) <= max_tokens:
            break
        if _hide(rendering, page):
            hidden.append(page.index)
    after = _tokens(rendering, hidden or notice)
    return Collapse(tuple(hidden), before, after, max(0, after - max_tokens))


def _tokens(rendering: Rendering, notice: Sequence[str]) -> int:
    """Return what the window takes with the notice that says what was hidden."""
    tree = rendering.tree
    tree.clock = replace(tree.clock, notice=tuple(notice))
    return rendering.tokens()


def _hide(rendering: Rendering, page: Page) -> bool:
    """Hide a page if the window is smaller for it.

    It is not when the page cannot be seen any more, or holds less than the line that it leaves.
    """
    before = _tokens(rendering, ())
    _put(rendering, replace(page, expanded=False))
    if _tokens(rendering, ()) < before:
        return True
    _put(rendering, page)
    return False


def _put(rendering: Rendering, page: Page) -> None:
    before = rendering.tree.pages[page.index]
    rendering.tree.put(page)
    rendering.refresh({page.index: before})


def _staying(rendering: Rendering, kept: Collection[str]) -> set[str]:
    tree = rendering.tree
    latest = tree.latest(rendering.session_id)
    pinned = [page.index for page in tree.pages.values() if page.pinned and not page.cold]
    stay = {*pinned, *kept, *([latest.index] if latest is not None else [])} & tree.pages.keys()
    return stay | {folder.index for each in stay for folder in tree.ancestors(each)}


def _open_pages(rendering: Rendering, stay: Collection[str]) -> Iterator[Page]:
    for segment in rendering.tree.segments.values():
        if segment.id != SYSTEM:
            for page in rendering.seen(segment):
                if page.expanded and page.index not in stay and page.parent is not None:
                    yield page


def _loss(rendering: Rendering, page: Page) -> tuple[bool, int, int, int]:
    """Order pages by what the window loses least by."""
    recalls = page.recalls
    used = max(recalls.last_at, recalls.entered_at, recalls.opened_at)
    return page.is_folder, recalls.count, used, -rendering.own_tokens(page)
