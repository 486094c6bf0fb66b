"""What is asked of pages (page-tree.md P4, P15).

The texts of fields and classes are what a model reads of the operations.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from memci.domain.pages.segment import Permission, SegmentKind
from memci.shapes.base import BudgetTokens, Query, Request, Text
from memci.shapes.page_names import Description, Folder, Index, Name, SegmentId


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
