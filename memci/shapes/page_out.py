"""Pages and segments of a tree as answers."""

from __future__ import annotations

from dataclasses import replace

from memci.domain.pages.page import Lifecycle, Page
from memci.domain.pages.render import Rendering
from memci.domain.pages.segment import Segment
from memci.domain.pages.state import PageState, state_of
from memci.shapes.pages import PageOut, SegmentOut


def page_out(rendering: Rendering, index: str) -> PageOut:
    """Return a page as it is now, and as its session sees it, with the name that the window gives.

    Roots and the Contents Page have none of their own.
    """
    tree = rendering.tree
    page = shown = tree[index]
    if index in {tree.clock.archive, tree.segment_of(page).root}:
        shown = replace(page, name=rendering.writer.name(tree, page))
    return _told(shown, tree.lifecycle(index), state_of(tree, index), rendering.sight.size(page))


def removed_out(page: Page, children: int) -> PageOut:
    """Return a page that was removed, with so many pages directly inside it."""
    return _told(page, Lifecycle.COLD_ARCHIVED, PageState.REMOVED, children)


def _told(page: Page, lifecycle: Lifecycle, state: PageState, children: int) -> PageOut:
    span = page.span
    return PageOut(
        index=page.index,
        kind=page.kind,
        segment=page.segment,
        parent=page.parent,
        name=page.name,
        description=page.description,
        expanded=page.expanded,
        lifecycle=lifecycle,
        state=state,
        pinned=page.pinned,
        children=children,
        session_id=span.session_id if span else None,
        first_seq=span.first_seq if span else None,
        last_seq=span.last_seq if span else None,
        recalls=page.recalls.count,
        user_id=page.user_id,
    )


def segment_out(segment: Segment) -> SegmentOut:
    """Return a segment as it is now."""
    return SegmentOut(
        id=segment.id,
        name=segment.name,
        kind=segment.kind,
        permission=segment.permission,
        max_tokens=segment.max_tokens,
        root=segment.root,
    )
