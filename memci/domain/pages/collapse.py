"""Auto-collapse: hide pages to keep the window inside its token budget (P13), without a model."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memci.domain.pages.page import SYSTEM, Lifecycle, Page, Segment, Span
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.pages.window_text import Excess
from memci.domain.session.plan import Plan, is_finished, is_worked_on

_RECENT = 3  # pages that are hidden after the Contents Page, which can be opened again


def collapse_order(
    rendering: Rendering,
    segments: Iterable[Segment],
    kept: Collection[str],
    opened: Sequence[str] = (),
) -> list[tuple[Page, bool]]:
    """Return the pages that may be hidden, in order, each with True if it was just opened.

    Not included are ``kept``, pinned pages, the current interaction, and the folders above them.
    Pages of finished plan steps come first; ``opened`` ones last, in that order; pages of the
    active plan step count as just opened (R7).
    """
    tree, staying = rendering.tree, _protected_pages(rendering, kept)
    pages = [
        page
        for segment in segments
        if segment.id != SYSTEM
        for page in rendering.visible.shown_pages(segment)
        # Of an archived page only a line is shown.
        if page.expanded and page.parent is not None and not tree.is_archived(page)
        if page.index not in staying
    ]
    order = _opening_order(rendering, pages, opened)
    newest = sorted(
        (each for each in pages if not each.is_folder),
        key=lambda page: (_last_use(page), page.place),
        reverse=True,
    )
    recent = {each.index for each in newest[:_RECENT]}
    above = {folder.index for each in recent for folder in tree.ancestors(each)}

    def loss(page: Page) -> tuple[int, ...]:
        if page.is_folder:
            rank = 3 if page.index in above else 1
        else:
            rank = 2 if page.index in recent else 0
        tokens = rendering.own_tokens(page)
        is_left = not _is_of_plan(
            rendering, page, lambda plan, span: is_finished(plan, span.first_seq, span.last_seq)
        )
        return order[page.index], is_left, rank, page.recalls.count, _last_use(page), -tokens

    return [(page, bool(order[page.index])) for page in sorted(pages, key=loss)]


def _protected_pages(rendering: Rendering, kept: Collection[str]) -> set[str]:
    tree = rendering.tree
    latest = tree.latest(rendering.session_id)
    pinned = [page.index for page in tree.pages.values() if page.pinned and not page.cold]
    stay = {*pinned, *kept, *([latest.index] if latest is not None else [])} & tree.pages.keys()
    return stay | {folder.index for each in stay for folder in tree.ancestors(each)}


def _opening_order(
    rendering: Rendering, pages: Sequence[Page], opened: Sequence[str]
) -> dict[str, int]:
    """Return the order of opening, by page; a folder has that of its latest page.

    0: not opened in this interaction, and not of an active plan step.
    """
    tree = rendering.tree
    order = {each.index: 0 for each in pages}
    for page in pages:
        # Otherwise the message that reports an opened page to the model would hide it again.
        now = tree.counters.interactions
        is_new = now in {page.recalls.opened_at, page.recalls.last_at} - {0}
        if is_new or _is_of_plan(
            rendering, page, lambda plan, span: is_worked_on(plan, span.last_seq)
        ):
            order[page.index] = 1
    order |= {index: place for place, index in enumerate(opened, 2) if index in order}
    for index, place in list(order.items()):
        for folder in tree.ancestors(index):
            if folder.index in order:
                order[folder.index] = max(order[folder.index], place)
    return order


def _is_of_plan(rendering: Rendering, page: Page, test: Callable[[Plan, Span], bool]) -> bool:
    plan, span = rendering.plan, page.span
    if plan is None or span is None or span.session_id != plan.session_id:
        return False
    return test(plan, span)


def _last_use(page: Page) -> int:
    recalls = page.recalls
    return max(recalls.last_at, recalls.entered_at, recalls.opened_at)


@dataclass(frozen=True, slots=True)
class Collapse:
    """The result of a collapse."""

    hidden: tuple[str, ...]  # indexes, in this order
    before: int  # tokens of the window
    after: int
    over: int  # tokens by which the rest exceeds the budget; 0: it fits


def auto_collapse(
    rendering: Rendering, rules: PageRules, opened: Sequence[str] = ()
) -> Collapse | None:
    """Enforce the limits of segments and of the window (P13); return None if all were met.

    Above ``collapse_above`` of the limit, pages are hidden down to ``collapse_to`` of it. Pages in
    ``opened`` are hidden only if the limit itself would be exceeded.
    """
    done = [
        _collapse(rendering, Limit(segment.max_tokens, segment.max_tokens, segment), (), opened)
        for segment in rendering.tree.segments.values()
        if segment.max_tokens and rendering.tokens_of(segment) > segment.max_tokens
    ]
    most = rules.window_max_tokens
    if rendering.tokens() > rules.collapse_above * most:
        earlier = tuple(index for each in done for index in each.hidden)
        limit = Limit(int(rules.collapse_to * most), most)
        done.append(_collapse(rendering, limit, (), opened, earlier))
    if not done:
        return None
    hidden = tuple(index for each in done for index in each.hidden)
    return Collapse(hidden, done[0].before, done[-1].after, max(each.over for each in done))


def collapse_to(rendering: Rendering, max_tokens: int, kept: Collection[str] = ()) -> Collapse:
    """Hide expanded pages until the window takes at most ``max_tokens``.

    ``sys``, the current interaction, pinned and ``kept`` pages, and the folders above these are
    never hidden. Pages of finished plan steps go first, then old, long, never recalled ones, then
    the Contents Page and folders, then the newest pages, and those of the active plan step last.
    Pages whose line would take more than hiding saves are hidden only as a last resort.
    """
    return _collapse(rendering, Limit(max_tokens, max_tokens), kept)


class Limit(NamedTuple):
    """The target and the limit of the tokens of the window or of one segment."""

    aim: int
    most: int
    segment: Segment | None = None


def _collapse(
    rendering: Rendering,
    limit: Limit,
    kept: Collection[str],
    opened: Sequence[str] = (),
    earlier: tuple[str, ...] = (),
) -> Collapse:
    """Hide pages until the limit holds; ``earlier``: pages hidden before, for the same notice."""
    rendering.excess = None
    notice, before = rendering.tree.counters.notice, rendering.tokens()
    hidden: list[str] = []

    def tokens() -> int:
        _set_notice(rendering.tree, [*earlier, *hidden] or notice)
        return rendering.tokens_of(limit.segment) if limit.segment else rendering.tokens()

    unhidden = tokens()
    segments = [limit.segment] if limit.segment else list(rendering.tree.segments.values())
    candidates = collapse_order(rendering, segments, kept, opened)
    for page, is_just_opened in candidates:  # worthwhile pages, down to the target
        if is_just_opened or tokens() <= limit.aim:
            break
        if _hide(rendering, page, lambda saved, line: saved >= line):
            hidden.append(page.index)
    for page, _ in candidates:  # any page, down to the limit
        if tokens() <= limit.most:
            break
        if page.index not in hidden and _hide(rendering, page, lambda saved, _: saved > 0):
            hidden.append(page.index)
    _open_again(rendering, limit, hidden, tokens)
    if tokens() >= unhidden:  # the notice takes more than hiding saves
        for index in hidden:
            rendering.put(replace(rendering.tree[index], expanded=True))
        hidden.clear()
    over = max(0, tokens() - limit.most)
    return Collapse(tuple(hidden), before, rendering.tokens(), over)


def _open_again(
    rendering: Rendering, limit: Limit, hidden: list[str], tokens: Callable[[], int]
) -> None:
    """Reopen pages that need not be hidden, because a larger one was hidden after them."""
    reached = next((each for each in (limit.aim, limit.most) if tokens() <= each), None)
    if reached is None:
        return
    for index in reversed(hidden[:-1]):
        if rendering.tree.lifecycle(index) is not Lifecycle.ACTIVE:
            continue
        place, page = hidden.index(index), rendering.tree[index]
        hidden.remove(index)
        rendering.put(replace(page, expanded=True))
        if tokens() > reached:
            hidden.insert(place, index)
            rendering.put(page)


def _set_notice(tree: Tree, notice: Sequence[str]) -> None:
    tree.counters = replace(tree.counters, notice=tuple(notice))


def _hide(rendering: Rendering, page: Page, is_enough: Callable[[int, int], bool]) -> bool:
    """Hide a page if ``is_enough(saved tokens, tokens of the remaining line)``."""
    _set_notice(rendering.tree, ())
    before = rendering.tokens()
    line = replace(page, expanded=False)
    rendering.put(line)
    if is_enough(before - rendering.tokens(), rendering.own_tokens(line)):
        return True
    rendering.put(page)
    return False


_TRIES = 4


def report_excess(rendering: Rendering, most: int) -> int:
    """Write into the window by how many tokens it exceeds ``most``; return them, 0 if it fits."""
    rendering.excess = None
    over = rendering.tokens() - most
    if over <= 0:
        return 0
    for _ in range(_TRIES):  # the line itself counts
        rendering.excess = Excess(over, most)
        over = rendering.tokens() - most
        if over == rendering.excess.over:
            break
    return over


class OpeningCost(NamedTuple):
    """The tokens of an expanded page, the tokens that can be freed for it, and the limit."""

    takes: int
    free: int
    most: int


def opening_cost(rendering: Rendering, rules: PageRules, index: str) -> OpeningCost:
    """Return the reason why a page cannot be expanded. Discard the tree afterwards.

    The notice about hidden pages counts as not free.
    """
    rendering.excess = None
    tree, notice = rendering.tree, rendering.tree.counters.notice
    page = tree[index]
    rendering.put(replace(page, expanded=False, pinned_by=None))
    collapse_to(rendering, 0)
    rendering.put(replace(tree[index], pinned_by=page.pinned_by))  # its line mentions the pin
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
