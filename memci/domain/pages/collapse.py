"""Keeping the window inside its budget by hiding pages (P13): no model, and nothing is lost.

In which order pages are hidden: what a window loses least by goes first (P13).

What a window has no room for, and what it says of that (P13).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memci.domain.context.plan import is_finished, is_worked_on
from memci.domain.pages.block import Excess
from memci.domain.pages.page import SYSTEM, Lifecycle, Page, Segment
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree

_RECENT = 3  # pages that are hidden after the Contents Page, which can be opened again


def collapse_order(
    rendering: Rendering,
    segments: Iterable[Segment],
    kept: Collection[str],
    opened: Sequence[str] = (),
) -> list[tuple[Page, bool]]:
    """Return the pages of these segments that may be hidden, each with whether it was just opened.

    ``kept`` stays, with what is pinned, the current interaction and the folders above these;
    ``opened`` goes last, what was opened first before the others. What belongs to finished steps of
    the session's plan goes first, and what belongs to its active step counts as just opened (R7).
    """
    tree, stay = rendering.tree, _staying(rendering, kept)
    pages = list(_open_pages(rendering, segments, stay))
    wanted = _wanted(rendering, pages, opened)
    recent = _recent(pages)
    above = {folder.index for each in recent for folder in tree.ancestors(each)}

    def loss(page: Page) -> tuple[int, ...]:
        if page.is_folder:
            rank = 3 if page.index in above else 1
        else:
            rank = 2 if page.index in recent else 0
        tokens = rendering.own_tokens(page)
        left = not _is_finished(rendering, page)
        return wanted[page.index], left, rank, page.recalls.count, _used(page), -tokens

    return [(page, bool(wanted[page.index])) for page in sorted(pages, key=loss)]


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
            for page in rendering.visible.shown_pages(segment):
                if page.expanded and page.index not in stay and _may_hide(rendering.tree, page):
                    yield page


def _wanted(rendering: Rendering, pages: Iterable[Page], opened: Sequence[str]) -> dict[str, int]:
    """Tell how late pages are hidden for having been opened; a folder no earlier than what it has.

    0: not opened in this interaction, and of no step that is worked on.
    """
    tree = rendering.tree
    last = {index: order for order, index in enumerate(opened, 2)}
    now = (
        each.index for each in pages if _just_opened(tree, each) or _is_worked_on(rendering, each)
    )
    wanted = {each.index: 0 for each in pages} | dict.fromkeys(now, 1)
    wanted |= {index: order for index, order in last.items() if index in wanted}
    for index, order in list(wanted.items()):
        for folder in tree.ancestors(index):
            if folder.index in wanted:
                wanted[folder.index] = max(wanted[folder.index], order)
    return wanted


def _just_opened(tree: Tree, page: Page) -> bool:
    """Whether somebody has opened or recalled it since the current interaction began.

    Else what a model opens would be hidden again by the very message that tells it so.
    """
    return tree.counters.interactions in {page.recalls.opened_at, page.recalls.last_at} - {0}


def _is_finished(rendering: Rendering, page: Page) -> bool:
    plan, span = rendering.plan, page.span
    if plan is None or span is None or span.session_id != plan.session_id:
        return False
    return is_finished(plan, span.first_seq, span.last_seq)


def _is_worked_on(rendering: Rendering, page: Page) -> bool:
    plan, span = rendering.plan, page.span
    if plan is None or span is None or span.session_id != plan.session_id:
        return False
    return is_worked_on(plan, span.last_seq)


def _recent(pages: Iterable[Page]) -> set[str]:
    """Return the pages that were used last: what is spoken of is kept longer than folders are."""
    newest = sorted((each for each in pages if not each.is_folder), key=_entered, reverse=True)
    return {each.index for each in newest[:_RECENT]}


def _entered(page: Page) -> tuple[int, int]:
    return _used(page), page.place


def _used(page: Page) -> int:
    recalls = page.recalls
    return max(recalls.last_at, recalls.entered_at, recalls.opened_at)


def _may_hide(tree: Tree, page: Page) -> bool:
    """Roots stay open, and of what is archived only a line is seen, open or not."""
    return page.parent is not None and not tree.is_archived(page)


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
    opened: Sequence[str] = (),
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
    caller knows why), and the folders above these. What belongs to finished steps of the plan goes
    first, then old, long, never recalled ones; the newest go after the Contents Page and other
    folders, and what belongs to the plan's active step last. What saves less than its line takes is
    hidden only where the limit cannot hold otherwise.
    """
    return _collapse(rendering, Limit(max_tokens, max_tokens), kept)


class Limit(NamedTuple):
    """Tokens that the window, or one segment of it, is to take, and may take at most."""

    aim: int
    most: int
    segment: Segment | None = None


def _collapse(
    rendering: Rendering,
    limit: Limit,
    kept: Collection[str],
    opened: Sequence[str] = (),
    told: tuple[str, ...] = (),
) -> Collapse:
    """Hide pages until the limit holds; ``told`` was hidden just before, and is told as well."""
    rendering.excess = None
    notice, before = rendering.tree.counters.notice, rendering.tokens()
    hidden: list[str] = []

    def taken() -> int:
        _tell(rendering.tree, [*told, *hidden] or notice)
        return rendering.tokens_of(limit.segment) if limit.segment else rendering.tokens()

    unhidden = taken()
    segments = [limit.segment] if limit.segment else list(rendering.tree.segments.values())
    _hide_all(
        rendering, _Wish(collapse_order(rendering, segments, kept, opened), limit), hidden, taken
    )
    _open_again(rendering, limit, hidden, taken)
    if taken() >= unhidden:  # to say what was hidden takes more than that
        for index in hidden:
            rendering.put(replace(rendering.tree[index], expanded=True))
        hidden.clear()
    over = max(0, taken() - limit.most)
    return Collapse(tuple(hidden), before, rendering.tokens(), over)


class _Wish(NamedTuple):
    """Pages in the order in which they are hidden, each with whether it was just opened."""

    pages: Sequence[tuple[Page, bool]]
    limit: Limit


def _hide_all(
    rendering: Rendering, wish: _Wish, hidden: list[str], taken: Callable[[], int]
) -> None:
    """Hide what is worth its line; what is not, or was just opened, where the limit forces it."""
    for page, is_wanted in wish.pages:
        if is_wanted or taken() <= wish.limit.aim:
            break
        if _hide(rendering, page, is_worth_its_line):
            hidden.append(page.index)
    for page, _ in wish.pages:
        if taken() <= wish.limit.most:
            break
        if page.index not in hidden and _hide(rendering, page, lambda saved, _: saved > 0):
            hidden.append(page.index)


def _open_again(
    rendering: Rendering, limit: Limit, hidden: list[str], taken: Callable[[], int]
) -> None:
    """Open again what need not have been hidden, since something larger was hidden after it."""
    reached = next((each for each in (limit.aim, limit.most) if taken() <= each), None)
    if reached is None:
        return
    for index in reversed(hidden[:-1]):
        if rendering.tree.lifecycle(index) is not Lifecycle.ACTIVE:
            continue
        place, page = hidden.index(index), rendering.tree[index]
        hidden.remove(index)
        rendering.put(replace(page, expanded=True))
        if taken() > reached:
            hidden.insert(place, index)
            rendering.put(page)


def _joined(done: Sequence[Collapse]) -> Collapse:
    hidden = tuple(index for each in done for index in each.hidden)
    return Collapse(hidden, done[0].before, done[-1].after, max(each.over for each in done))


def _tell(tree: Tree, notice: Sequence[str]) -> None:
    tree.counters = replace(tree.counters, notice=tuple(notice))


def _hide(rendering: Rendering, page: Page, is_enough: Callable[[int, int], bool]) -> bool:
    """Hide a page if what is saved is enough for the line that it leaves; both are tokens.

    Nothing is when the page cannot be seen any more.
    """
    _tell(rendering.tree, ())
    before = rendering.tokens()
    line = replace(page, expanded=False)
    rendering.put(line)
    if is_enough(before - rendering.tokens(), rendering.own_tokens(line)):
        return True
    rendering.put(page)
    return False


def is_worth_its_line(saved: int, line: int) -> bool:
    """Tell whether hiding a page saves at least what is left of it takes, both in tokens."""
    return saved >= line


_TRIES = 4


def report_excess(rendering: Rendering, most: int) -> int:
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


class OpeningCost(NamedTuple):
    """Tokens that a page takes when it is opened, that can be free for it, and the limit."""

    takes: int
    free: int
    most: int


def opening_cost(
    rendering: Rendering, rules: PageRules, index: str, kept: Collection[str] = ()
) -> OpeningCost:
    """Tell what stands in the way of a page. The tree must be thrown away afterwards.

    The line that says what was hidden for it takes its part of what is free.
    """
    rendering.excess = None
    tree, notice = rendering.tree, rendering.tree.counters.notice
    page = tree[index]
    rendering.put(replace(page, expanded=False, pinned_by=None))
    collapse_to(rendering, 0, kept)
    rendering.put(replace(tree[index], pinned_by=page.pinned_by))  # its line says so
    tree.counters = replace(tree.counters, notice=max(notice, tree.counters.notice, key=len))
    least = rendering.tokens()
    most = rules.window_max_tokens
    segment = tree.segment_of(page)
    free = most - least, most
    if segment.max_tokens:
        most = segment.max_tokens
        free = min(free, (most - rendering.tokens_of(segment), most))
    for each in (page, *tree.ancestors(index)):
        rendering.put(replace(tree[each.index], expanded=True))
    return OpeningCost(rendering.tokens() - least, max(0, free[0]), free[1])
