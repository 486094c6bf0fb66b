"""The pages that a context lists: the Contents Page and filed pages (R13)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memci.domain.context.message_list import Item, Part, Section, part_of, part_tokens
from memci.domain.pages.page import USER, Page, SegmentKind
from memci.domain.pages.tree import VisibleTree
from memci.domain.pages.window_text import BlockWriter, ContentReader, PageContent
from memci.domain.token_counts import MESSAGE_OVERHEAD, Count
from memci.message import Role

# The least tokens at which pages are listed, and the largest share of a list.
_LEAST_ROOM = 1_000
_CEILINGS = {Section.CONTENTS: 0.15, Section.TREE: 0.1}


class Leaf(NamedTuple):
    """The block of one page; it begins with a heading mark and ends with a blank line."""

    page: str
    text: str
    closed: str = ""  # replaces ``text`` if that is too long


@dataclass(frozen=True, slots=True)
class Listed:
    """Pages under a heading, which is a block itself."""

    heading: str
    leaves: Sequence[Leaf]


class PageRoom(NamedTuple):
    """Token counts of a list."""

    always: int  # for any query
    free: int  # beside the query
    left: int  # for pages


def list_pages(
    section: Section, listed: Listed | None, room: PageRoom, count: Count
) -> tuple[Part, ...]:
    """Return pages as a message, within their share of the room; no page is cut.

    The share and the pages do not depend on the query. The newest lines of the Contents Page stay,
    and the first of other pages. A page that is too long is closed. Under 1,000 tokens there are no
    pages.
    """
    if listed is None or room.always < _LEAST_ROOM:
        return ()
    ceiling = min(int(_CEILINGS[section] * min(room.always, 2 * room.free)), room.left)
    items = _fitting(section, listed, ceiling, count)
    while items:
        first = replace(items[0], text=listed.heading + items[0].text, tokens=0)
        part = part_of(Role.SYSTEM, [first, *items[1:]], count)
        if part_tokens([part]) <= ceiling:
            return (part,)
        # Tokens of a text are not the sum of its pieces' tokens in every tokenizer.
        items = items[1:] if section is Section.CONTENTS else items[:-1]
    return ()


def _fitting(section: Section, listed: Listed, ceiling: int, count: Count) -> list[Item]:
    """Return the pages up to the first that does not fit, in their order.

    A page that is too long for the whole share is closed or left out.
    """
    most = ceiling - MESSAGE_OVERHEAD - count(listed.heading)
    newest_first = section is Section.CONTENTS
    free, taken = most, list[Item]()
    for leaf in reversed(listed.leaves) if newest_first else listed.leaves:
        forms = ((text, count(text)) for text in (leaf.text, leaf.closed) if text)
        text, tokens = next((each for each in forms if each[1] <= most), ("", 0))
        if not text:
            continue
        free -= tokens
        if free < 0:
            break
        taken.append(Item(section, text, tokens, origin={"page": leaf.page}))
    return taken[::-1] if newest_first else taken


def contents_listed(visible: VisibleTree, writer: BlockWriter) -> Listed | None:
    """Return the Contents Page as the viewer sees it; None if it has no line."""
    tree = visible.tree
    archive = tree.pages.get(tree.counters.archive or "")
    if archive is None or not visible.contains(archive):
        return None
    leaves = [_leaf(visible, writer, each, 2, _no_content) for each in visible.children(archive)]
    return Listed(_leaf(visible, writer, archive, 1, _no_content).text, leaves) if leaves else None


def tree_listed(visible: VisibleTree, writer: BlockWriter, reads: ContentReader) -> Listed | None:
    """Return notes, folders and their pages as the window shows them; None if there are none.

    Open notes show the text that ``reads`` returns. Interactions show name and description: their
    messages are retrieved or recent. Active chapters and ``sys`` are left out: a list has its own
    system text.
    """
    leaves = [
        _leaf(visible, writer, page, level, reads)
        for page, level in _filed_pages(visible)
        if level > 1
    ]
    if not leaves:
        return None
    root = replace(visible.tree[visible.tree.segments[USER].root], expanded=True)
    return Listed(_leaf(visible, writer, root, 1, _no_content).text, leaves)


def _filed_pages(visible: VisibleTree) -> Iterator[tuple[Page, int]]:
    tree = visible.tree
    root = tree.segments[USER].root
    for segment in tree.segments.values():
        if segment.kind is SegmentKind.SYSTEM:
            continue
        for page, level in visible.walk(segment):
            of_chapter = page.span is not None and page.parent == root
            in_archive = page.index == tree.counters.archive or tree.is_archived(page)
            if not of_chapter and not in_archive:
                yield page, level


def _leaf(
    visible: VisibleTree, writer: BlockWriter, page: Page, level: int, reads: ContentReader
) -> Leaf:
    shown = page if page.span is None else replace(page, expanded=False)
    text = writer.block(visible, shown, level, reads)
    if page.is_folder or not shown.expanded:
        return Leaf(page.index, text)
    closed = replace(shown, expanded=False)
    return Leaf(page.index, text, writer.block(visible, closed, level, reads))


def _no_content(_: Page) -> PageContent:
    return PageContent()
