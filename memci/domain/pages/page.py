"""Pages and segments of an agent's page tree, and the permissions of segments (P1, P3, P5)."""

from dataclasses import dataclass
from enum import StrEnum

from memci.message import Role

# Characters. The title and the description are lines of a heading; an entry is the line of a
# message.
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 2_000
LONGEST_ENTRY = 400
# Levels of a tree, its root included.
MAX_DEPTH = 64


class PageKind(StrEnum):
    """The kind of a page's content."""

    DETAIL = "detail"  # the messages of one interaction, or text of its own
    CONTENTS = "contents"  # other pages


class Lifecycle(StrEnum):
    """The state of a page in the window."""

    ACTIVE = "active"
    HOT_ARCHIVED = "hot_archived"  # inside a hidden folder, or archived
    COLD_ARCHIVED = "cold_archived"  # removed; memory search restores it


@dataclass(frozen=True, slots=True)
class Span:
    """The messages of one interaction (P6); those of other sessions may lie between its ends."""

    first_seq: int
    last_seq: int
    session_id: str | None
    number: int  # counts the agent's interactions from 1; 0: a system message
    answered: bool = False  # the next user message starts a new page


@dataclass(frozen=True, slots=True)
class RecallStats:
    """The number of recalls; other fields are interaction numbers, 0: never (P7-P9)."""

    count: int = 0
    last_at: int = 0
    entered_at: int = 0  # last entered the active chapter: created or recalled
    archived_at: int = 0
    opened_at: int = 0  # last expanded by an agent or a developer


@dataclass(frozen=True, slots=True)
class Page:
    """One page; ``index`` is its permanent name (P1)."""

    index: str
    kind: PageKind
    segment: str
    parent: str | None  # None: the root of a segment, or the top page of a removed subtree
    place: int  # orders siblings
    name: str = ""
    description: str = ""
    expanded: bool = False
    cold: bool = False  # removed from the tree (P2)
    managed: bool = False  # SYSTEM_MANAGED in any segment (P5)
    span: Span | None = None  # the messages of an interaction's page
    text_version: int | None = None  # of a note's own text in the page store (P14)
    entries: tuple[str, ...] = ()  # one line for each message of the span (P7)
    recalls: RecallStats = RecallStats()
    named: bool = False  # name and description are final, no placeholders (P6)
    summarized: bool = False  # entries are final
    pinned_by: str | None = None  # "agent", "developer" or None: not pinned
    chapter: str = ""  # key of another session that recalled the page into its window (P9)
    user_id: str | None = None  # the only user who sees it; None: all users
    content_tokens: int = 0  # of its messages or text when they were written; 0: unknown

    @property
    def shown_in(self) -> str:
        """The key of the session whose active chapter contains the page."""
        return self.chapter or session_key(self.span.session_id if self.span else None)

    @property
    def pinned(self) -> bool:
        """True if the system must keep the page open (P13)."""
        return self.pinned_by is not None

    @property
    def is_folder(self) -> bool:
        """True for a ContentsPage."""
        return self.kind is PageKind.CONTENTS

    @property
    def has_placeholders(self) -> bool:
        """True until the summarizer has written the name and the entries (P6)."""
        return bool(self.span and self.span.number) and not (self.named and self.summarized)


def session_key(session_id: str | None) -> str:
    """Return a unique key of a session; None (no session) also has a key."""
    return "-" if session_id is None else f"+{session_id}"


def one_line(text: str, longest: int) -> str:
    """Return the text as one line of at most ``longest`` characters; a cut line ends with "…"."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


class Permission(StrEnum):
    """The rights of an agent on the pages of a segment."""

    READ_WRITE = "READ_WRITE"
    READ_ONLY = "READ_ONLY"
    SYSTEM_MANAGED = "SYSTEM_MANAGED"


class SegmentKind(StrEnum):
    """A ``system`` segment renders as a system message, the others as user messages."""

    SYSTEM = "system"
    USER = "user"
    TOOL = "tool"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Segment:
    """A named part of the context; its root is the folder ``{id}-0``."""

    id: str
    kind: SegmentKind
    permission: Permission
    name: str = ""
    max_tokens: int = 0  # 0: only the limit of the window applies
    next_number: int = 1  # of the next page in it

    @property
    def root(self) -> str:
        """The index of its root page."""
        return f"{self.id}-0"

    @property
    def role(self) -> Role:
        """The role of the message that renders it (P11)."""
        return Role.SYSTEM if self.kind is SegmentKind.SYSTEM else Role.USER


# Of one agent.
MOST_SEGMENTS = 100
SYSTEM, USER = "sys", "usr"
DEFAULT_SEGMENTS = (
    Segment(SYSTEM, SegmentKind.SYSTEM, Permission.READ_ONLY),
    Segment(USER, SegmentKind.USER, Permission.READ_WRITE),
)
