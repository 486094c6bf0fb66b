"""What is answered of pages (page-tree.md P4, P15)."""

from __future__ import annotations

from pydantic import Field

from memci.domain.pages.page import Lifecycle, PageKind
from memci.domain.pages.segment import Permission, SegmentKind
from memci.domain.pages.state import PageState
from memci.shapes.base import Answer

# Of a window beside its tokens.
OVER = "Tokens by which what cannot be hidden is over a limit; 0: it fits"
NEW_SESSION = "Nobody has said anything in this session yet: it is new, or its id is misspelt"


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
    new_session: bool = Field(False, description=NEW_SESSION)


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
    next_offset: int | None = Field(
        None, description="Offset of the pages that come next in a folder; null: there are no more"
    )


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
    new_session: bool = Field(False, description=NEW_SESSION)
