"""Keeping the window inside its budget by hiding pages (P13): no model, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memci.domain.pages.losing import in_order
from memci.domain.pages.page import Lifecycle, Page
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules
from memci.domain.pages.segment import Segment
from memci.domain.pages.tree import Tree


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
    notice, before = rendering.tree.clock.notice, rendering.tokens()
    hidden: list[str] = []

    def taken() -> int:
        _tell(rendering.tree, [*told, *hidden] or notice)
        return rendering.tokens_of(limit.segment) if limit.segment else rendering.tokens()

    unhidden = taken()
    segments = [limit.segment] if limit.segment else list(rendering.tree.segments.values())
    _hide_all(rendering, _Wish(in_order(rendering, segments, kept, opened), limit), hidden, taken)
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
    tree.clock = replace(tree.clock, notice=tuple(notice))


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
