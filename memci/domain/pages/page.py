"""A page of the tree: a file of messages or a note, or a folder of pages.

The parts of a context, and what an agent may do in each (P3, P5).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memci.message import Role

# Characters. The title and the description are lines of a heading: neither may look like more than
# that; an entry is a line that stands for a message.
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 2_000
LONGEST_ENTRY = 400
# Levels of a tree, its root included.
MAX_DEPTH = 64


class PageKind(StrEnum):
    """What a page holds."""

    DETAIL = "detail"  # the messages of one interaction, or text of its own
    CONTENTS = "contents"  # other pages


class Lifecycle(StrEnum):
    """Where a page is, seen from the window."""

    ACTIVE = "active"
    HOT_ARCHIVED = "hot_archived"  # inside a hidden folder, or archived
    COLD_ARCHIVED = "cold_archived"  # removed; memory search brings it back


@dataclass(frozen=True, slots=True)
class Span:
    """The messages that make an interaction (P6): of one session, from one seq to another.

    Messages of other sessions may lie between them, and system messages, which have pages of their
    own. ``number`` counts the agent's interactions from 1; 0: a system message. ``answered``:
    somebody else than the user has spoken, so that the user's next message begins another.
    """

    first_seq: int
    last_seq: int
    session_id: str | None
    number: int
    answered: bool = False


@dataclass(frozen=True, slots=True)
class RecallStats:
    """How often a page was recalled by its index, and at which interaction (P7 to P9).

    ``entered_at`` is the interaction at which it last entered the active chapter, by being made
    or recalled; ``archived_at`` that at which it last left it; ``opened_at`` that at which somebody
    last expanded it. 0: never.
    """

    count: int = 0
    last_at: int = 0
    entered_at: int = 0
    archived_at: int = 0
    opened_at: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """One page; ``index`` names it for ever (P1).

    ``parent`` is None for a segment's root and for the topmost page of what was removed, whose
    ``cold`` is true as it is below. ``place`` orders siblings. ``span`` is what an interaction's
    page shows; ``body`` the version of its own text that a note shows, kept in the page store
    (P14). ``entries`` are lines that stand for its messages, by their order (P7). ``named``: its
    name and description are no stand-ins any more, and ``summed``: nor are its entries (P6). Who
    names a page himself leaves its entries to the summarizer. ``chapter`` is the key of another
    session than its own that has recalled it into its window (P9). ``user_id``: only in this user's
    sessions it is seen; None: in all. ``pinned_by``: "agent" or "developer"; None: it is not.
    ``held_tokens``: what its messages or its text take where they are shown, counted as they were
    said or written; 0: not known.
    """

    index: str
    kind: PageKind
    segment: str
    parent: str | None
    place: int
    name: str = ""
    description: str = ""
    expanded: bool = False
    cold: bool = False
    managed: bool = False  # SYSTEM_MANAGED, whatever its segment is (P5)
    span: Span | None = None
    body: int | None = None
    entries: tuple[str, ...] = ()
    recalls: RecallStats = RecallStats()
    named: bool = False
    summed: bool = False
    pinned_by: str | None = None
    chapter: str = ""
    user_id: str | None = None
    held_tokens: int = 0

    @property
    def shown_in(self) -> str:
        """The key of the session whose active chapter it lies in, at the conversation's root."""
        return self.chapter or session_key(self.span.session_id if self.span else None)

    @property
    def pinned(self) -> bool:
        """Whether the system does not hide it (P13)."""
        return self.pinned_by is not None

    @property
    def is_folder(self) -> bool:
        """Whether it is a ContentsPage."""
        return self.kind is PageKind.CONTENTS

    @property
    def has_stand_ins(self) -> bool:
        """Whether the summarizer is still to say what it holds (P6)."""
        return bool(self.span and self.span.number) and not (self.named and self.summed)


def session_key(session_id: str | None) -> str:
    """Return what a session is told from all others by, that of no session included."""
    return "-" if session_id is None else f"+{session_id}"


def one_line(text: str, longest: int) -> str:
    """Return a text as one line of at most so many characters, ended by "…" where it is cut."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


class Permission(StrEnum):
    """What an agent may do with the pages of a segment."""

    READ_WRITE = "READ_WRITE"
    READ_ONLY = "READ_ONLY"
    SYSTEM_MANAGED = "SYSTEM_MANAGED"


class SegmentKind(StrEnum):
    """What a segment is for; ``system`` renders as a system message, the others as a user's."""

    SYSTEM = "system"
    USER = "user"
    TOOL = "tool"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Segment:
    """A named part of the context; its root is the folder ``{id}-0``.

    ``next_number`` is that of the next page that is made in it. ``max_tokens`` 0: only the
    window's own limit.
    """

    id: str
    kind: SegmentKind
    permission: Permission
    name: str = ""
    max_tokens: int = 0
    next_number: int = 1

    @property
    def root(self) -> str:
        """Return the index of its root."""
        return f"{self.id}-0"

    @property
    def role(self) -> Role:
        """Return as whose messages it renders (P11)."""
        return Role.SYSTEM if self.kind is SegmentKind.SYSTEM else Role.USER


# Of one agent.
MOST_SEGMENTS = 100
SYSTEM, USER = "sys", "usr"
DEFAULT_SEGMENTS = (
    Segment(SYSTEM, SegmentKind.SYSTEM, Permission.READ_ONLY),
    Segment(USER, SegmentKind.USER, Permission.READ_WRITE),
)
