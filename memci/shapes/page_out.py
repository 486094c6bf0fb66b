"""A page of the tree as an answer."""

from __future__ import annotations

from memci.domain.pages.tree import Tree
from memci.shapes.pages import PageOut


def page_out(tree: Tree, index: str) -> PageOut:
    """Return a page as it is now."""
    page = tree[index]
    span = page.span
    return PageOut(
        index=page.index,
        kind=page.kind,
        segment=page.segment,
        parent=page.parent,
        name=page.name,
        description=page.description,
        expanded=page.expanded,
        lifecycle=tree.lifecycle(index),
        pinned=page.pinned,
        children=tree.count(index),
        session_id=span.session_id if span else None,
        first_seq=span.first_seq if span else None,
        last_seq=span.last_seq if span else None,
        recalls=page.recalls.count,
    )
