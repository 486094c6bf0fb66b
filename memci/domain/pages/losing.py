"""In which order pages are hidden: what a window loses least by goes first (P13)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from memci.domain.pages.page import Page
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import SYSTEM, Segment, Tree

_RECENT = 3  # pages that are hidden after the Contents Page, which can be opened again


def in_order(
    rendering: Rendering,
    segments: Iterable[Segment],
    kept: Collection[str],
    opened: Sequence[str] = (),
) -> list[tuple[Page, bool]]:
    """Return the pages of these segments that may be hidden, each with whether it was just opened.

    ``kept`` stays, with what is pinned, the current interaction and the folders above these;
    ``opened`` goes last, what was opened first before the others.
    """
    tree, stay = rendering.tree, _staying(rendering, kept)
    pages = list(_open_pages(rendering, segments, stay))
    wanted = _wanted(tree, pages, opened)
    recent = _recent(pages)
    above = {folder.index for each in recent for folder in tree.ancestors(each)}

    def loss(page: Page) -> tuple[int, ...]:
        if page.is_folder:
            rank = 3 if page.index in above else 1
        else:
            rank = 2 if page.index in recent else 0
        tokens = rendering.own_tokens(page)
        return wanted[page.index], rank, page.recalls.count, _used(page), -tokens

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
            for page in rendering.seen(segment):
                if page.expanded and page.index not in stay and _may_hide(rendering.tree, page):
                    yield page


def _wanted(tree: Tree, pages: Iterable[Page], opened: Sequence[str]) -> dict[str, int]:
    """Tell how late pages are hidden for having been opened; a folder no earlier than what it has.

    0: not opened in this interaction.
    """
    last = {index: order for order, index in enumerate(opened, 2)}
    wanted = {each.index: last.get(each.index, int(_just_opened(tree, each))) for each in pages}
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
