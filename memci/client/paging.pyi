"""What type checkers and editors read of paging.py, made by tests/support/client_stub.py."""

from collections.abc import Sequence
from typing import Literal

from memci.domain.pages.pin import PinKind
from memci.domain.pages.tree import Permission, SegmentKind
from memci.shapes.pages import CollapseAnswer, PageChange, PageList, PageText, StepAnswer
from memci.shapes.pins import PinChange

class PageOperations:
    """What can be done to the pages of an agent, on the caller's thread.

    Errors are those of ``memci.errors``: ``NotFoundError`` for no agent or no such page,
    ``RefusedError``, which says why, for what may not be done.
    """
    def create_detail_page(
        self,
        parent: str,
        *,
        name: str,
        description: str = "",
        detail: str,
        session_id: str | None = None,
    ) -> PageChange:
        """Write a note into the context: something learned, decided, or to be kept in sight.

        It starts hidden: expand_details shows its text.

        Args:
            parent: Index of the folder to put it in: usr-0
            name: A short title, in one line
            description: What it holds, in a sentence: all that is seen of it while it is
                hidden
            detail: The text of the note
            session_id: Whose window is meant; none: that of the last message
        """

    def create_contents_page(
        self,
        parent: str,
        *,
        name: str,
        description: str = "",
        children: Sequence[str] = ...,
        session_id: str | None = None,
    ) -> PageChange:
        """Make a folder, and move pages into it in the given order. It starts hidden.

        Args:
            parent: Index of the folder to put it in: usr-0
            name: A short title, in one line
            description: What it holds, in a sentence: all that is seen of it while it is
                hidden
            children: Pages to move into it
            session_id: Whose window is meant; none: that of the last message
        """

    def move_page(
        self,
        source: str,
        target: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Move a page, with all below it, to the end of a folder of its segment.

        Args:
            source: The page to move
            target: The folder to move it into
            session_id: Whose window is meant; none: that of the last message
        """

    def update_page(
        self,
        index: str,
        *,
        name: str | None = None,
        description: str | None = None,
        session_id: str | None = None,
    ) -> PageChange:
        """Give a page another name or description.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            name: A short title, in one line
            description: What it holds, in a sentence: all that is seen of it while it is
                hidden
            session_id: Whose window is meant; none: that of the last message
        """

    def expand_details(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Open a page: show its messages or text, or the pages in a folder. It costs tokens.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def hide_details(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Close a page: only its description stays in sight. It frees tokens; nothing is lost.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def remove_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Take a page, with all below it, out of the context. restore_page brings it back.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def recall_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Bring an archived page of the Contents Page back into the conversation, opened.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def restore_page(
        self,
        index: str,
        parent: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Put a removed page back, with all that was removed with it, at the end of a folder.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            parent: Index of the folder to put it in: usr-0
            session_id: Whose window is meant; none: that of the last message
        """

    def pin_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Keep a page from being hidden by the system when the window is full.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def unpin_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Let the system hide a page again when the window is full.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def pin(
        self,
        *,
        text: str | None = None,
        message: str | None = None,
        kind: PinKind | Literal["task", "constraint", "preference", "decision", "note"] = ...,
        session_id: str | None = None,
    ) -> PinChange:
        """Keep a short text, or a message, in sight always, until unpin. It costs tokens each time.

        Args:
            message: Id of a message, as found
            session_id: Whose window is meant; none: that of the last message
        """

    def unpin(
        self,
        pin: int,
        *,
        session_id: str | None = None,
    ) -> PinChange:
        """Take a pinned text down.

        Args:
            pin: Its number, as the window shows it in brackets
            session_id: Whose window is meant; none: that of the last message
        """

    def auto_collapse(
        self,
        max_tokens: int,
        *,
        session_id: str | None = None,
    ) -> CollapseAnswer:
        """Hide old pages until the window takes at most so many tokens.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    def undo(
        self,
        *,
        session_id: str | None = None,
    ) -> StepAnswer:
        """Take back what you did to pages last; again for what came before it.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    def redo(
        self,
        *,
        session_id: str | None = None,
    ) -> StepAnswer:
        """Do again what was undone last.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    def get_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageText:
        """Read a page without changing the window: its state, and what it holds.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def get_children(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageList:
        """List the pages in a folder.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def get_parent(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageList:
        """Tell which folder a page lies in: none of a root, or of what was removed.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def get_ancestors(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageList:
        """List the folders above a page, the nearest first.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    def find_pages(
        self,
        query: str,
        *,
        limit: int = 20,
        session_id: str | None = None,
    ) -> PageList:
        """Find pages by words in their names, descriptions and summaries, removed ones too.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    def create_segment(
        self,
        *,
        id: str,
        name: str,
        kind: SegmentKind | Literal["system", "user", "tool", "custom"] = ...,
        permission: Permission | Literal["READ_WRITE", "READ_ONLY", "SYSTEM_MANAGED"] = ...,
        max_tokens: int = 0,
        session_id: str | None = None,
    ) -> PageChange:
        """Make a segment: a part of the context with a root and a permission of its own.

        Args:
            name: A short title, in one line
            session_id: Whose window is meant; none: that of the last message
        """

class AsyncPageOperations:
    """What can be done to the pages of an agent, on asyncio; raises likewise."""
    async def create_detail_page(
        self,
        parent: str,
        *,
        name: str,
        description: str = "",
        detail: str,
        session_id: str | None = None,
    ) -> PageChange:
        """Write a note into the context: something learned, decided, or to be kept in sight.

        It starts hidden: expand_details shows its text.

        Args:
            parent: Index of the folder to put it in: usr-0
            name: A short title, in one line
            description: What it holds, in a sentence: all that is seen of it while it is
                hidden
            detail: The text of the note
            session_id: Whose window is meant; none: that of the last message
        """

    async def create_contents_page(
        self,
        parent: str,
        *,
        name: str,
        description: str = "",
        children: Sequence[str] = ...,
        session_id: str | None = None,
    ) -> PageChange:
        """Make a folder, and move pages into it in the given order. It starts hidden.

        Args:
            parent: Index of the folder to put it in: usr-0
            name: A short title, in one line
            description: What it holds, in a sentence: all that is seen of it while it is
                hidden
            children: Pages to move into it
            session_id: Whose window is meant; none: that of the last message
        """

    async def move_page(
        self,
        source: str,
        target: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Move a page, with all below it, to the end of a folder of its segment.

        Args:
            source: The page to move
            target: The folder to move it into
            session_id: Whose window is meant; none: that of the last message
        """

    async def update_page(
        self,
        index: str,
        *,
        name: str | None = None,
        description: str | None = None,
        session_id: str | None = None,
    ) -> PageChange:
        """Give a page another name or description.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            name: A short title, in one line
            description: What it holds, in a sentence: all that is seen of it while it is
                hidden
            session_id: Whose window is meant; none: that of the last message
        """

    async def expand_details(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Open a page: show its messages or text, or the pages in a folder. It costs tokens.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def hide_details(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Close a page: only its description stays in sight. It frees tokens; nothing is lost.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def remove_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Take a page, with all below it, out of the context. restore_page brings it back.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def recall_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Bring an archived page of the Contents Page back into the conversation, opened.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def restore_page(
        self,
        index: str,
        parent: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Put a removed page back, with all that was removed with it, at the end of a folder.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            parent: Index of the folder to put it in: usr-0
            session_id: Whose window is meant; none: that of the last message
        """

    async def pin_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Keep a page from being hidden by the system when the window is full.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def unpin_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageChange:
        """Let the system hide a page again when the window is full.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def pin(
        self,
        *,
        text: str | None = None,
        message: str | None = None,
        kind: PinKind | Literal["task", "constraint", "preference", "decision", "note"] = ...,
        session_id: str | None = None,
    ) -> PinChange:
        """Keep a short text, or a message, in sight always, until unpin. It costs tokens each time.

        Args:
            message: Id of a message, as found
            session_id: Whose window is meant; none: that of the last message
        """

    async def unpin(
        self,
        pin: int,
        *,
        session_id: str | None = None,
    ) -> PinChange:
        """Take a pinned text down.

        Args:
            pin: Its number, as the window shows it in brackets
            session_id: Whose window is meant; none: that of the last message
        """

    async def auto_collapse(
        self,
        max_tokens: int,
        *,
        session_id: str | None = None,
    ) -> CollapseAnswer:
        """Hide old pages until the window takes at most so many tokens.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    async def undo(
        self,
        *,
        session_id: str | None = None,
    ) -> StepAnswer:
        """Take back what you did to pages last; again for what came before it.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    async def redo(
        self,
        *,
        session_id: str | None = None,
    ) -> StepAnswer:
        """Do again what was undone last.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    async def get_page(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageText:
        """Read a page without changing the window: its state, and what it holds.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def get_children(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageList:
        """List the pages in a folder.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def get_parent(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageList:
        """Tell which folder a page lies in: none of a root, or of what was removed.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def get_ancestors(
        self,
        index: str,
        *,
        session_id: str | None = None,
    ) -> PageList:
        """List the folders above a page, the nearest first.

        Args:
            index: Index of a page, as the window shows it in brackets: usr-12
            session_id: Whose window is meant; none: that of the last message
        """

    async def find_pages(
        self,
        query: str,
        *,
        limit: int = 20,
        session_id: str | None = None,
    ) -> PageList:
        """Find pages by words in their names, descriptions and summaries, removed ones too.

        Args:
            session_id: Whose window is meant; none: that of the last message
        """

    async def create_segment(
        self,
        *,
        id: str,
        name: str,
        kind: SegmentKind | Literal["system", "user", "tool", "custom"] = ...,
        permission: Permission | Literal["READ_WRITE", "READ_ONLY", "SYSTEM_MANAGED"] = ...,
        max_tokens: int = 0,
        session_id: str | None = None,
    ) -> PageChange:
        """Make a segment: a part of the context with a root and a permission of its own.

        Args:
            name: A short title, in one line
            session_id: Whose window is meant; none: that of the last message
        """
