"""Types of page_operations.py, made by tests/support/client_stub.py."""

from collections.abc import Sequence
from typing import Literal

from memci.client.method import Methods, TransportT, method
from memci.client.requests import Flow
from memci.domain.pages.page import Permission, SegmentKind
from memci.domain.pages.pins import PinKind
from memci.domain.pages.window_text import Format
from memci.schemas.pages import (
    CollapseAnswer,
    PageChange,
    PageList,
    PageText,
    PinChange,
    StepAnswer,
)

class PageOperations(Methods[TransportT]):
    """Operations on the pages of an agent.

    Errors are those of ``memci.errors``: ``NotFoundError`` for an unknown agent or page,
    ``RefusedError``, which says why, for a forbidden operation.
    """
    @method
    def create_detail_page(
        self,
        parent: str,
        *,
        name: str,
        description: str = "",
        detail: str,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Write a note: something learned, decided or to be kept. It starts hidden (in sys: open).

        Args:
            parent: Folder, such as usr-0
            name: Short title
            description: A sentence: all that shows while it is hidden
            detail: Its text
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def create_contents_page(
        self,
        parent: str,
        *,
        name: str,
        description: str = "",
        children: Sequence[str] = ...,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Make a folder and move pages into it. It starts hidden, and hides them.

        Args:
            parent: Folder, such as usr-0
            name: Short title
            description: A sentence: all that shows while it is hidden
            children: Pages to move, in order
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def move_page(
        self,
        source: str,
        target: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Move a page, with all below it, to the end of a folder of the same prefix.

        Args:
            source: Page, such as usr-12
            target: Folder, such as usr-0
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def update_page(
        self,
        index: str,
        *,
        name: str | None = None,
        description: str | None = None,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Give a page another name or description.

        Args:
            index: Such as usr-12
            name: Short title
            description: A sentence: all that shows while it is hidden
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def expand_details(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Open a page in the window: its text or messages, or what a folder holds. Costs tokens.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def hide_details(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Close a page to free tokens: name and description stay in sight, nothing is lost.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def remove_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Take a page, with all below it, out of the window. restore_page brings it back.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def recall_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Bring a page that the Contents Page lists back into the conversation, open.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def restore_page(
        self,
        index: str,
        parent: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Put a removed page, with all below it, back into a folder. find_pages finds it.

        Args:
            index: Such as usr-12
            parent: Folder, such as usr-0
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def pin_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Keep a page where it is, and open, when others are hidden or archived to make room.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def unpin_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Let a pinned page be hidden and archived again when room is needed.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def pin(
        self,
        *,
        text: str | None = None,
        message: str | None = None,
        kind: PinKind | Literal["task", "constraint", "preference", "decision", "note"] = ...,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PinChange]:
        """Keep a short text or a message always in sight, until unpin. It costs tokens each time.

        Args:
            text: Text to keep in sight
            message: Id of a message, as found
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def unpin(
        self,
        pin: int,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PinChange]:
        """Remove a pinned text.

        Args:
            pin: Its number in brackets in the window
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def auto_collapse(
        self,
        max_tokens: int,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[CollapseAnswer]:
        """Hide old pages until the window takes at most so many tokens.

        Args:
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def undo(
        self,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[StepAnswer]:
        """Take back the agent's own last change to pages, not one of yours; again: the one before.

        Args:
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def redo(
        self,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[StepAnswer]:
        """Do again what was undone last of the agent's own changes to pages.

        Args:
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def get_page(
        self,
        index: str,
        *,
        offset: int = 0,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageText]:
        """Read a page's state and what it holds, a long text in parts, without opening it.

        Args:
            index: Such as usr-12
            offset: The next_offset of the part before
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def get_children(
        self,
        index: str,
        *,
        limit: int = 50,
        offset: int = 0,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageList]:
        """List the pages in a folder, those of a large one in parts.

        Args:
            index: Such as usr-12
            offset: The next_offset of the part before
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def get_parent(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageList]:
        """Return the folder of a page.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def get_ancestors(
        self,
        index: str,
        *,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageList]:
        """List the folders above a page, nearest first.

        Args:
            index: Such as usr-12
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def find_pages(
        self,
        query: str,
        *,
        limit: int = 20,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageList]:
        """Find pages, removed ones too, by words in names, descriptions, summaries and notes.

        Args:
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """

    @method
    def create_segment(
        self,
        *,
        id: str,
        name: str,
        kind: SegmentKind | Literal["system", "user", "tool", "custom"] = ...,
        permission: Permission | Literal["READ_WRITE", "READ_ONLY", "SYSTEM_MANAGED"] = ...,
        max_tokens: int = 0,
        session_id: str | None = None,
        format: Format | Literal["markdown", "text", "native"] = ...,
    ) -> Flow[PageChange]:
        """Make a segment: a part of the context with a root and a permission of its own.

        Args:
            id: Small letters, digits and _, such as plan: its pages are plan-1, plan-2
            name: Short title
            session_id: Whose window is meant; none: that of the last message
            format: How that is written, as in `window`: what fits, and tokens, are counted
                in it
        """
