"""Pages: what is asked of them, and what comes back (page-tree.md P4, P15).

The texts of fields and classes are what a model reads of the operations.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictInt, StringConstraints, WithJsonSchema

from memci.domain.pages.block import Format
from memci.domain.pages.page import LONGEST_DESCRIPTION, LONGEST_NAME, Lifecycle, PageKind
from memci.domain.pages.state import PageState
from memci.domain.pages.tree import Permission, SegmentKind
from memci.shapes.base import Answer, BudgetTokens, ForeignId, Query, Request, Text
from memci.shapes.read import ContextMessage

SEGMENT_PATTERN = r"^[a-z][a-z0-9_]{0,31}$"
INDEX_PATTERN = r"^[a-z][a-z0-9_]{0,31}-[0-9]{1,15}$"


def _index(text: str) -> str:
    if not re.fullmatch(INDEX_PATTERN, text):
        raise ValueError("expected the index of a page as the window shows it, such as usr-12")
    return text


Index = Annotated[
    Text,
    AfterValidator(_index),
    WithJsonSchema({"type": "string", "pattern": INDEX_PATTERN}),
    Field(description="Such as usr-12"),
]
Folder = Annotated[Index, Field(description="Folder, such as usr-0")]
Name = Annotated[
    Text,
    StringConstraints(min_length=1, max_length=LONGEST_NAME),
    Field(description="Short title"),
]
Description = Annotated[
    Text,
    StringConstraints(max_length=LONGEST_DESCRIPTION),
    Field(description="A sentence: all that shows while it is hidden"),
]


def _segment_id(text: str) -> str:
    if not re.fullmatch(SEGMENT_PATTERN, text):
        raise ValueError(
            "expected a short name of small letters a-z, digits and _, a letter first, such as plan"
        )
    return text


SegmentId = Annotated[
    Text,
    AfterValidator(_segment_id),
    WithJsonSchema({"type": "string", "pattern": SEGMENT_PATTERN}),
    Field(description="Small letters, digits and _, such as plan: its pages are plan-1, plan-2"),
]


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
    """Keep a page open when others are hidden because the window is full."""

    index: Index


class UnpinPage(Request):
    """Let a page be hidden again when the window is full."""

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
    """List the pages in a folder."""

    index: Index


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


# Of a window beside its tokens.
OVER = "Tokens by which what cannot be hidden is over a limit; 0: it fits"
_NEW_SESSION = "Nobody has said anything in this session yet: it is new, or its id is misspelt"


class PageOut(Answer):
    """A page as it is now."""

    index: str
    kind: PageKind
    segment: str
    parent: str | None
    name: str
    description: str
    expanded: bool
    lifecycle: Lifecycle
    state: PageState = Field(description="Its place and visibility in plain words")
    pinned: bool
    children: int
    session_id: str | None
    first_seq: int | None
    last_seq: int | None
    recalls: int
    user_id: str | None = Field(None, description="In whose sessions alone it is seen; null: all")


class PageChange(Answer):
    """What an operation did: the page, others that changed, and the tokens of the window."""

    page: PageOut
    changed: list[str]
    tokens_before: int
    tokens_after: int
    over: int = Field(description=OVER)
    collapsed: list[str]
    new_agent: bool = Field(
        False, description="There was no such agent, and now there is: new, or its id is misspelt"
    )
    new_session: bool = Field(False, description=_NEW_SESSION)


class StepAnswer(Answer):
    """What was undone or redone: its operations, the pages, and the tokens of the window."""

    operations: list[str]
    changed: list[str]
    tokens_before: int
    tokens_after: int
    over: int = Field(description=OVER)
    collapsed: list[str]


class CollapseAnswer(Answer):
    """What was hidden, in that order, and the tokens of the window."""

    collapsed: list[str]
    tokens_before: int
    tokens_after: int
    over: int = Field(description="Tokens by which what must stay is over what was asked; 0: fits")


class PageText(Answer):
    """A page and what it holds, whether it is expanded or not.

    An agent gets at most 4,000 tokens of the text, and 50 entries with its beginning.
    """

    page: PageOut
    text: str
    entries: list[str]
    next_offset: int | None = Field(
        None, description="Offset of the rest of the text; null: there is no more"
    )


class PageList(Answer):
    """Pages, in order."""

    pages: list[PageOut]


class SegmentOut(Answer):
    """A part of the context, and what agents may do in it."""

    id: str
    name: str
    kind: SegmentKind
    permission: Permission
    max_tokens: int = Field(description="0: only the window's own limit")
    root: str


class PageTree(Answer):
    """The tree of a session: its segments, and its pages in order, each behind its folder.

    Of what was removed, the latest first.
    """

    segments: list[SegmentOut]
    pages: list[PageOut]
    session_id: str | None
    archive: str | None = Field(description="The Contents Page, once there is one")
    tokens: int = Field(description="What the whole window takes")
    tokens_of: dict[str, int] = Field(
        description="What each page takes by itself; none of those that cannot be seen"
    )
    next_cursor: str | None = Field(description="Only of what was removed")
    new_session: bool = Field(False, description=_NEW_SESSION)


class WindowRequest(Request):
    """Which window is meant, and how it is written."""

    session_id: ForeignId | None = None
    budget_tokens: BudgetTokens | None = None
    format: Format = Format.MARKDOWN


class WindowAnswer(Answer):
    """The context window: its messages, and exactly how many tokens they take."""

    messages: list[ContextMessage]
    tokens: int
    by_segment: dict[str, int]
    collapsed: list[str] = Field(description="What was hidden to fit, in that order")
    over: int = Field(description="Tokens by which what must stay is over the budget; 0: it fits")
    session_id: str | None
    new_session: bool = Field(False, description=_NEW_SESSION)
    tokenizer: str

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the messages as plain dicts, as chat APIs and their clients take them."""
        return [each.model_dump(mode="json") for each in self.messages]
