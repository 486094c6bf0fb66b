"""Pages as a context lists them: the Contents Page, and what somebody has filed (R13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memci.domain.context.listing import Leaf, Listed
from memci.domain.pages.block import Held, Place, Reads, Writer
from memci.domain.pages.page import Page
from memci.domain.pages.segment import USER, SegmentKind
from memci.domain.pages.sight import Sight


def contents_listed(sight: Sight, writer: Writer) -> Listed | None:
    """Return the Contents Page as the viewer sees it; None where it has no line."""
    tree = sight.tree
    archive = tree.pages.get(tree.clock.archive or "")
    if archive is None or not sight.has(archive):
        return None
    leaves = [_leaf(sight, writer, each, 2, _nothing) for each in sight.inside(archive)]
    return Listed(_leaf(sight, writer, archive, 1, _nothing).text, leaves) if leaves else None


def tree_listed(sight: Sight, writer: Writer, reads: Reads) -> Listed | None:
    """Return notes, folders and what is filed in these, as the window shows them; None for none.

    Open notes show what ``reads`` gives. Of interactions, which are retrieved word for word or
    recent, there is the name and the description; those of active chapters are left out, and so is
    ``sys``: a list has its own system text.
    """
    leaves = [
        _leaf(sight, writer, page, level, reads) for page, level in _filed(sight) if level > 1
    ]
    if not leaves:
        return None
    root = replace(sight.tree[sight.tree.segments[USER].root], expanded=True)
    return Listed(_leaf(sight, writer, root, 1, _nothing).text, leaves)


def _filed(sight: Sight) -> Iterator[tuple[Page, int]]:
    tree = sight.tree
    root = tree.segments[USER].root
    for segment in tree.segments.values():
        if segment.kind is SegmentKind.SYSTEM:
            continue
        for page, level in sight.walk(segment):
            of_chapter = page.span is not None and page.parent == root
            in_archive = page.index == tree.clock.archive or tree.is_archived(page)
            if not of_chapter and not in_archive:
                yield page, level


def _leaf(sight: Sight, writer: Writer, page: Page, level: int, reads: Reads) -> Leaf:
    shown = page if page.span is None else replace(page, expanded=False)
    place = Place(level, sight.size(page))
    text = writer.block(sight.tree, shown, place, reads)
    if page.is_folder or not shown.expanded:
        return Leaf(page.index, text)
    closed = replace(shown, expanded=False)
    return Leaf(page.index, text, writer.block(sight.tree, closed, place, reads))


def _nothing(_: Page) -> Held:
    return Held()
