"""Auto-collapse: hide pages to keep the window inside its token budget (P13), without a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memci.domain.pages.block import Excess
from memci.domain.pages.page import SYSTEM, Lifecycle, Page, Segment
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.session.plan import is_finished, is_worked_on

_RECENT = 3  # pages that are hidden after the Contents Page, which can be opened again


def collapse_order(
    rendering: Rendering,
    segments: Iterable[Segment],
    kept: Collection[str],
    opened: Sequence[str] = (),
) -> list[tuple[Page, bool]]:
    """Return the pages that may be hidden, in that order, each with True if it was just opened.

    Not included are ``kept``, pinned pages, the current interaction, and the folders above them.
    Pages of finished plan steps come first; ``opened`` ones last, in that order; pages of the
    active plan step count as just opened (R7).
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
    """Return how late pages are hidden because they were opened; folders as their latest page.

    0: not opened in this interaction, and not of an active plan step.
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
    """Return True if the page was opened or recalled in the current interaction.

    Otherwise the message that reports an opened page to the model would hide it again.
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
    """Return the most recently used pages, which are kept longer than folders."""
    newest = sorted((each for each in pages if not each.is_folder), key=_entered, reverse=True)
    return {each.index for each in newest[:_RECENT]}


def _entered(page: Page) -> tuple[int, int]:
    return _used(page), page.place


def _used(page: Page) -> int:
    recalls = page.recalls
    return max(recalls.last_at, recalls.entered_at, recalls.opened_at)


def _may_hide(tree: Tree, page: Page) -> bool:
    """Return True unless it is a root or an archived page, of which only a line is shown."""
    return page.parent is not None and not tree.is_archived(page)


@dataclass(frozen=True, slots=True)
class Collapse:
    """The result of a collapse."""

    hidden: tuple[str, ...]  # indexes, in this order
    before: int  # tokens of the window
    after: int
    over: int  # tokens by which the rest exceeds the budget; 0: it fits


def auto_collapse(
    rendering: Rendering,
    rules: PageRules,
    kept: Collection[str] = (),
    opened: Sequence[str] = (),
) -> Collapse | None:
    """Enforce the limits of segments and of the window (P13); return None if all were met.

    Above ``collapse_above`` of the limit, pages are hidden down to ``collapse_to`` of it. Just
    ``opened`` pages are hidden only if the limit itself would be exceeded.
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
    """Hide expanded pages until the window takes at most ``max_tokens``.

    Never hidden are ``sys``, the current interaction, pinned and ``kept`` pages, and the folders
    above these. Pages of finished plan steps go first, then old, long, never recalled ones, then
    the Contents Page and folders, then the newest pages, and those of the active plan step last.
    Pages whose line would take more than hiding saves are hidden only if there is no other way.
    """
    return _collapse(rendering, Limit(max_tokens, max_tokens), kept)


class Limit(NamedTuple):
    """The target and the limit of the window's, or of one segment's, tokens."""

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
    """Hide pages until the limit holds; ``told``: pages hidden before, for the same notice."""
    rendering.excess = None
    notice, before = rendering.tree.counters.notice, rendering.tokens()
    hidden: list[str] = []

    def taken() -> int:
        _tell(rendering.tree, [*told, *hidden] or notice)
        return rendering.tokens_of(limit.segment) if limit.segment else rendering.tokens()

    unhidden = taken()
    segments = [limit.segment] if limit.segment else list(rendering.tree.segments.values())
    _hide_all(
        rendering,
        _Candidates(collapse_order(rendering, segments, kept, opened), limit),
        hidden,
        taken,
    )
    _open_again(rendering, limit, hidden, taken)
    if taken() >= unhidden:  # the notice takes more than hiding saves
        for index in hidden:
            rendering.put(replace(rendering.tree[index], expanded=True))
        hidden.clear()
    over = max(0, taken() - limit.most)
    return Collapse(tuple(hidden), before, rendering.tokens(), over)


class _Candidates(NamedTuple):
    """Pages in the order of hiding, each with True if it was just opened."""

    pages: Sequence[tuple[Page, bool]]
    limit: Limit


def _hide_all(
    rendering: Rendering, candidates: _Candidates, hidden: list[str], taken: Callable[[], int]
) -> None:
    """Hide worthwhile pages down to the target, then any page down to the limit."""
    for page, is_wanted in candidates.pages:
        if is_wanted or taken() <= candidates.limit.aim:
            break
        if _hide(rendering, page, is_worth_its_line):
            hidden.append(page.index)
    for page, _ in candidates.pages:
        if taken() <= candidates.limit.most:
            break
        if page.index not in hidden and _hide(rendering, page, lambda saved, _: saved > 0):
            hidden.append(page.index)


def _open_again(
    rendering: Rendering, limit: Limit, hidden: list[str], taken: Callable[[], int]
) -> None:
    """Reopen pages that need not be hidden, because a larger one was hidden after them."""
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
    """Hide a page if ``is_enough(saved tokens, tokens of the remaining line)``."""
    _tell(rendering.tree, ())
    before = rendering.tokens()
    line = replace(page, expanded=False)
    rendering.put(line)
    if is_enough(before - rendering.tokens(), rendering.own_tokens(line)):
        return True
    rendering.put(page)
    return False


def is_worth_its_line(saved: int, line: int) -> bool:
    """Return True if hiding a page saves at least the tokens of its remaining line."""
    return saved >= line


_TRIES = 4


def report_excess(rendering: Rendering, most: int) -> int:
    """Let the window say by how many tokens, that line included, it exceeds ``most``.

    Returns that number; 0: it fits.
    """
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
    """Tokens that an expanded page takes, that can be freed for it, and the limit."""

    takes: int
    free: int
    most: int


def opening_cost(
    rendering: Rendering, rules: PageRules, index: str, kept: Collection[str] = ()
) -> OpeningCost:
    """Return why a page cannot be expanded. Discard the tree afterwards.

    The notice about hidden pages is included in the tokens that are not free.
    """
    rendering.excess = None
    tree, notice = rendering.tree, rendering.tree.counters.notice
    page = tree[index]
    rendering.put(replace(page, expanded=False, pinned_by=None))
    collapse_to(rendering, 0, kept)
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
