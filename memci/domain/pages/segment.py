"""The parts of a context, and what an agent may do in each (P3, P5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memci.domain.message import Role


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
