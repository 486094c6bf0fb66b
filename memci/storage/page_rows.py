"""Rows of trees and of pages as values of the domain, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Row

from memci.domain.pages.clock import Clock
from memci.domain.pages.page import Page, PageKind, Recalls, Span
from memci.domain.pages.segment import Permission, Segment, SegmentKind
from memci.domain.pages.tree import Tree


def page_of(row: Row[Any]) -> Page:
    """Return the page that a row of all its columns is."""
    span = None
    if row.first_seq is not None:
        span = Span(row.first_seq, row.last_seq, row.session_id, row.number, row.answered)
    return Page(
        index=row.id,
        kind=PageKind(row.kind),
        segment=row.segment,
        parent=row.parent,
        place=row.place,
        name=row.name,
        description=row.description,
        expanded=row.expanded,
        cold=row.cold,
        managed=row.managed,
        span=span,
        body=row.body,
        entries=tuple(row.entries),
        recalls=Recalls(
            row.recalls, row.recalled_at, row.entered_at, row.archived_at, row.opened_at
        ),
        named=row.named,
        summed=row.summed,
        pinned_by=row.pinned_by,
        chapter=row.chapter,
        user_id=row.user_id,
        held_tokens=row.held_tokens,
    )


def row_of(page: Page) -> dict[str, Any]:
    """Return a page as a row, without its agent."""
    span = page.span
    return {
        "id": page.index,
        "kind": page.kind,
        "segment": page.segment,
        "parent": page.parent,
        "place": page.place,
        "name": page.name,
        "description": page.description,
        "expanded": page.expanded,
        "cold": page.cold,
        "managed": page.managed,
        "named": page.named,
        "summed": page.summed,
        "pinned_by": page.pinned_by,
        "chapter": page.chapter,
        "user_id": page.user_id,
        "held_tokens": page.held_tokens,
        "first_seq": span.first_seq if span else None,
        "last_seq": span.last_seq if span else None,
        "session_id": span.session_id if span else None,
        "number": span.number if span else None,
        "answered": span.answered if span else None,
        "entries": list(page.entries),
        "body": page.body,
        "recalls": page.recalls.count,
        "recalled_at": page.recalls.last_at,
        "entered_at": page.recalls.entered_at,
        "archived_at": page.recalls.archived_at,
        "opened_at": page.recalls.opened_at,
    }


def tree_of(row: Row[Any], pages: Iterable[Page]) -> Tree:
    """Return the tree that a row of ``page_tree`` is with these pages."""
    segments = [_segment_of(each) for each in row.segments]
    clock = Clock(
        settled_seq=row.settled_seq,
        interactions=row.interactions,
        next_place=row.next_place,
        archive=row.archive,
        notice=tuple(row.notice),
    )
    return Tree.of(
        {each.id: each for each in segments}, {each.index: each for each in pages}, clock
    )


def tree_row_of(tree: Tree) -> dict[str, Any]:
    """Return a tree as a row of ``page_tree``, without its agent and its version."""
    clock = tree.clock
    return {
        "segments": json.dumps([_written(each) for each in tree.segments.values()]),
        "settled_seq": clock.settled_seq,
        "interactions": clock.interactions,
        "next_place": clock.next_place,
        "archive": clock.archive,
        "notice": list(clock.notice),
    }


def _segment_of(stored: Mapping[str, Any]) -> Segment:
    return Segment(
        id=stored["id"],
        kind=SegmentKind(stored["kind"]),
        permission=Permission(stored["permission"]),
        name=stored["name"],
        max_tokens=stored["max_tokens"],
        next_number=stored["next_number"],
    )


def _written(segment: Segment) -> dict[str, Any]:
    return {
        "id": segment.id,
        "kind": segment.kind,
        "permission": segment.permission,
        "name": segment.name,
        "max_tokens": segment.max_tokens,
        "next_number": segment.next_number,
    }
