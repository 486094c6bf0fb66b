"""What models are told of an answer: what they can act on, and no word more (P4, P15).

Answers that are not in the table are told as they are, but for their nulls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from memci.domain.pages.page import PageKind
from memci.domain.pages.state import PageState
from memci.shapes.base import Answer
from memci.shapes.pages import PageChange, PageList, PageOut, PageText
from memci.shapes.schemas import Schema, schema_answered


class PageTold(Answer):
    """A page; ``children``, of folders alone: how many lie in it."""

    index: str
    name: str
    description: str | None = None
    state: PageState
    parent: str | None = None
    children: int | None = None
    pinned: Literal[True] | None = None


class ChangeTold(Answer):
    """What became of a page, which others changed or were hidden to fit, and what it takes.

    ``over``, only where that is so: tokens by which what cannot be hidden is over a limit.
    """

    index: str
    state: PageState
    parent: str | None = None
    pinned: Literal[True] | None = None
    changed: list[str] | None = None
    collapsed: list[str] | None = None
    tokens_before: int
    tokens_after: int
    over: int | None = None


class TextTold(Answer):
    """A page and what it holds; ``next_offset``: there is more text, from there on."""

    page: PageTold
    text: str | None = None
    entries: list[str] | None = None
    next_offset: int | None = None


class ListTold(Answer):
    """Pages, in order; ``next_offset``: there are more, from there on."""

    pages: list[PageTold]
    next_offset: int | None = None


class _Telling(NamedTuple):
    shape: type[Answer]
    tell: Callable[[Any], Answer]


def told(answer: Answer) -> dict[str, Any]:
    """Return what a model is told of an answer, as JSON values; it fits ``schema_told``."""
    telling = _TELLINGS.get(type(answer))
    shown = telling.tell(answer) if telling else answer
    written: dict[str, Any] = shown.model_dump(mode="json", exclude_none=True)
    return written


def schema_told(answer: type[Answer]) -> Schema:
    """Return the JSON schema of what a model is told of such answers."""
    telling = _TELLINGS.get(answer)
    return schema_answered(telling.shape if telling else answer)


def _page(page: PageOut) -> PageTold:
    return PageTold(
        index=page.index,
        name=page.name,
        description=page.description or None,
        state=page.state,
        parent=page.parent,
        children=page.children if page.kind is PageKind.CONTENTS else None,
        pinned=True if page.pinned else None,
    )


def _change(done: PageChange) -> ChangeTold:
    page = done.page
    return ChangeTold(
        index=page.index,
        state=page.state,
        parent=page.parent,
        pinned=True if page.pinned else None,
        changed=[each for each in done.changed if each != page.index] or None,
        collapsed=done.collapsed or None,
        tokens_before=done.tokens_before,
        tokens_after=done.tokens_after,
        over=done.over or None,
    )


def _text(held: PageText) -> TextTold:
    return TextTold(
        page=_page(held.page),
        text=held.text or None,
        entries=held.entries or None,
        next_offset=held.next_offset,
    )


def _list(found: PageList) -> ListTold:
    return ListTold(pages=[_page(each) for each in found.pages], next_offset=found.next_offset)


_TELLINGS: Mapping[type[Answer], _Telling] = {
    PageChange: _Telling(ChangeTold, _change),
    PageText: _Telling(TextTold, _text),
    PageList: _Telling(ListTold, _list),
}
