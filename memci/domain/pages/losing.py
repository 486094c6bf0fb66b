"""In which order pages are hidden: what a window loses least by goes first (P13)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from memci.domain.context.plan import is_finished, is_worked_on
from memci.domain.pages.page import Page
from memci.domain.pages.render import Rendering
from memci.domain.pages.segment import SYSTEM, Segment
from memci.domain.pages.tree import Tree

_RECENT = 3  # pages that are hidden after the Contents Page, which can be opened again


def in_order(
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
            for page in rendering.sight.seen(segment):
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
    return tree.clock.interactions in {page.recalls.opened_at, page.recalls.last_at} - {0}


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
