"""Keeping the window inside its budget by hiding pages (P13): no model, and nothing is lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memci.domain.pages.block import Excess
from memci.domain.pages.page import Page
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules
from memci.domain.pages.tree import SYSTEM, Segment, Tree

_TRIES = 4


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
    rendering: Rendering,
    rules: PageRules,
    kept: Collection[str] = (),
    opened: Collection[str] = (),
) -> Collapse | None:
    """Hold segments to their own limits, and the window to the agent's (P13).

    Above ``collapse_above`` of it pages are hidden down to ``collapse_to`` of it. What was just
    ``opened``, now or in the current interaction, is hidden only where the limit itself would be
    exceeded. None when nothing was above.
    """
    done = [
        _collapse(rendering, Limit(segment.max_tokens, segment.max_tokens, segment), kept, opened)
        for segment in rendering.tree.segments.values()
        if segment.max_tokens and rendering.tokens_of(segment) > segment.max_tokens
    ]
    told = tuple(index for each in done for index in each.hidden)
    most = rules.window_max_tokens
    if rendering.tokens() > rules.collapse_above * most:
        done.append(
            _collapse(rendering, Limit(int(rules.collapse_to * most), most), kept, opened, told)
        )
    return _joined(done) if done else None


def collapse_to(rendering: Rendering, max_tokens: int, kept: Collection[str] = ()) -> Collapse:
    """Hide expanded pages until the window takes at most so many tokens.

    Never hidden are ``sys``, the session's current interaction, what is pinned or ``kept`` (the
    current step of a plan), and the folders above these. Old, long, never recalled ones go first.
    """
    return _collapse(rendering, Limit(max_tokens, max_tokens), kept)


def say_excess(rendering: Rendering, most: int) -> int:
    """Have the window say by how many tokens it is over so many, that line included.

    Returns how many those are; 0: it fits.
    """
    rendering.excess = None
    over = rendering.tokens() - most
    if over <= 0:
        return 0
    for _ in range(_TRIES):  # the number counts, too
        rendering.excess = Excess(over, most)
        over = rendering.tokens() - most
        if over == rendering.excess.over:
            break
    return over


class Room(NamedTuple):
    """Tokens that a page takes when it is opened, that can be free for it, and the limit."""

    takes: int
    free: int
    most: int


def room_for(
    rendering: Rendering, rules: PageRules, index: str, kept: Collection[str] = ()
) -> Room:
    """Tell what stands in the way of a page. The tree must be thrown away afterwards."""
    rendering.excess = None
    page = rendering.tree[index]
    _put(rendering, replace(page, expanded=False, pinned=False))
    least = collapse_to(rendering, 0, kept).after
    most = rules.window_max_tokens
    segment = rendering.tree.segment_of(page)
    free = most - least, most
    if segment.max_tokens:
        most = segment.max_tokens
        free = min(free, (most - rendering.tokens_of(segment), most))
    for each in (page, *rendering.tree.ancestors(index)):
        _put(rendering, replace(rendering.tree[each.index], expanded=True))
    return Room(rendering.tokens() - least, max(0, free[0]), free[1])


class Limit(NamedTuple):
    """Tokens that the window, or one segment of it, is to take, and may take at most."""

    aim: int
    most: int
    segment: Segment | None = None


def _collapse(
    rendering: Rendering,
    limit: Limit,
    kept: Collection[str],
    opened: Collection[str] = (),
    told: tuple[str, ...] = (),
) -> Collapse:
    """Hide pages until the limit holds; ``told`` was hidden just before, and is told as well."""
    tree, stay = rendering.tree, _staying(rendering, kept)
    rendering.excess = None
    notice, before = tree.clock.notice, rendering.tokens()
    hidden: list[str] = []

    def taken() -> int:
        _tell(tree, [*told, *hidden] or notice)
        return rendering.tokens_of(limit.segment) if limit.segment else rendering.tokens()

    segments = [limit.segment] if limit.segment else list(tree.segments.values())
    pages = list(_open_pages(rendering, segments, stay))
    wanted = {
        each.index: 2 if each.index in opened else int(_just_opened(tree, each)) for each in pages
    }
    for page in sorted(pages, key=lambda each: (wanted[each.index], _loss(rendering, each))):
        if taken() <= (limit.most if wanted[page.index] else limit.aim):
            break
        if _hide(rendering, page):
            hidden.append(page.index)
    over = max(0, taken() - limit.most)
    return Collapse(tuple(hidden), before, rendering.tokens(), over)


def _joined(done: Sequence[Collapse]) -> Collapse:
    hidden = tuple(index for each in done for index in each.hidden)
    return Collapse(hidden, done[0].before, done[-1].after, max(each.over for each in done))


def _tell(tree: Tree, notice: Sequence[str]) -> None:
    tree.clock = replace(tree.clock, notice=tuple(notice))


def _hide(rendering: Rendering, page: Page) -> bool:
    """Hide a page if the window is smaller for it.

    It is not when the page cannot be seen any more, or holds less than the line that it leaves.
    """
    _tell(rendering.tree, ())
    before = rendering.tokens()
    _put(rendering, replace(page, expanded=False))
    if rendering.tokens() < before:
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


def _open_pages(
    rendering: Rendering, segments: Iterable[Segment], stay: Collection[str]
) -> Iterator[Page]:
    for segment in segments:
        if segment.id != SYSTEM:
            for page in rendering.seen(segment):
                if page.expanded and page.index not in stay and _may_hide(rendering.tree, page):
                    yield page


def _just_opened(tree: Tree, page: Page) -> bool:
    """Whether somebody has opened or recalled it since the current interaction began.

    Else what a model opens would be hidden again by the very message that tells it so.
    """
    return tree.clock.interactions in {page.recalls.opened_at, page.recalls.last_at} - {0}


def _loss(rendering: Rendering, page: Page) -> tuple[bool, int, int, int]:
    """Order pages by what the window loses least by."""
    recalls = page.recalls
    used = max(recalls.last_at, recalls.entered_at, recalls.opened_at)
    return page.is_folder, recalls.count, used, -rendering.own_tokens(page)


def _may_hide(tree: Tree, page: Page) -> bool:
    """Roots stay open, and of what is archived only a line is seen, open or not."""
    return page.parent is not None and not tree.is_archived(page)
