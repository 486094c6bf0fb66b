"""Arguments of the tools about pages, and what models are told of the answers (P4, P15).

The texts of fields and classes are what a model reads of the operations.

Answers that are not in the table are told as they are, but for their nulls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, StrictInt

from memci.domain.pages.page import PageKind, Permission, SegmentKind
from memci.domain.pages.tree import PageState
from memci.schemas.base import Answer, BudgetTokens, Query, Request, Text
from memci.schemas.json_schema import Schema, schema_answered
from memci.schemas.pages import (
    Description,
    Folder,
    Index,
    Name,
    PageChange,
    PageList,
    PageOut,
    PageText,
    SegmentId,
)


class CreateDetailPage(Request):
    """Write a note: something learned, decided or to be kept. It starts hidden (in sys: open)."""

    name: Name
    description: Description = ""
    detail: Annotated[Text, Field(min_length=1, description="Its text")]
    parent: Folder


class CreateContentsPage(Request):
    """Make a folder and move pages into it. It starts hidden, and hides them."""

    name: Name
    description: Description = ""
    parent: Folder
    children: Annotated[
        list[Index], Field(max_length=500, description="Pages to move, in order")
    ] = []  # noqa: RUF012 - pydantic copies it


class MovePage(Request):
    """Move a page, with all below it, to the end of a folder of the same prefix."""

    source: Annotated[Index, Field(description="Page, such as usr-12")]
    target: Annotated[Index, Field(description="Folder, such as usr-0")]


class UpdatePage(Request):
    """Give a page another name or description."""

    index: Index
    name: Name | None = None
    description: Description | None = None


class ExpandDetails(Request):
    """Open a page in the window: its text or messages, or what a folder holds. Costs tokens."""

    index: Index


class HideDetails(Request):
    """Close a page to free tokens: name and description stay in sight, nothing is lost."""

    index: Index


class RemovePage(Request):
    """Take a page, with all below it, out of the window. restore_page brings it back."""

    index: Index


class RecallPage(Request):
    """Bring a page that the Contents Page lists back into the conversation, open."""

    index: Index


class RestorePage(Request):
    """Put a removed page, with all below it, back into a folder. find_pages finds it."""

    index: Index
    parent: Folder


class PinPage(Request):
    """Keep a page where it is, and open, when others are hidden or archived to make room."""

    index: Index


class UnpinPage(Request):
    """Let a pinned page be hidden and archived again when room is needed."""

    index: Index


class AutoCollapse(Request):
    """Hide old pages until the window takes at most so many tokens."""

    max_tokens: BudgetTokens


class Undo(Request):
    """Take back your last change to pages; again: the one before."""


class Redo(Request):
    """Do again what you undid last."""


class GetPage(Request):
    """Read a page's state and what it holds, a long text in parts, without opening it."""

    index: Index
    offset: Annotated[
        StrictInt, Field(ge=0, le=2**31, description="The next_offset of the part before")
    ] = 0


class GetChildren(Request):
    """List the pages in a folder, those of a large one in parts."""

    index: Index
    limit: Annotated[StrictInt, Field(ge=1, le=100)] = 50
    offset: Annotated[
        StrictInt, Field(ge=0, le=2**31, description="The next_offset of the part before")
    ] = 0


class GetParent(Request):
    """Tell which folder a page lies in."""

    index: Index


class GetAncestors(Request):
    """List the folders above a page, nearest first."""

    index: Index


class FindPages(Request):
    """Find pages, removed ones too, by words in names, descriptions, summaries and notes."""

    query: Annotated[Query, Field(min_length=1)]
    limit: Annotated[StrictInt, Field(ge=1, le=100)] = 20


class CreateSegment(Request):
    """Make a segment: a part of the context with a root and a permission of its own."""

    id: SegmentId
    name: Name
    kind: SegmentKind = SegmentKind.CUSTOM
    permission: Permission = Permission.READ_WRITE
    max_tokens: Annotated[StrictInt, Field(ge=0, le=2_000_000)] = 0


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
