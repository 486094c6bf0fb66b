"""Pinned texts: the window always shows them until they are unpinned (R7, P13)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memci.domain.pages.window_labels import Labels, fenced

# Their name in the tokens by segment; so no segment may have this id.
PINS = "pins"


class PinKind(StrEnum):
    """The kind of a pin."""

    TASK = "task"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DECISION = "decision"
    NOTE = "note"


class Maker(StrEnum):
    """Who pinned a text."""

    AGENT = "agent"
    DEVELOPER = "developer"
    DETECTOR = "detector"  # of key messages


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned text."""

    number: int  # unique within the agent, never reused
    kind: PinKind
    text: str
    by: str  # a Maker
    created_at: datetime
    message_seq: int | None = None  # its source; None: given as a text
    user_id: str | None = None  # shown only to this user; None: to all
    span: tuple[int, int] | None = None  # [start, end) of the message, in characters; None: all
    session_id: str | None = None  # shown only in this session; None: in all
    # Of the message: its whole text, the speaker's name and its session.
    message_text: str | None = field(default=None, compare=False, repr=False)
    speaker: str | None = field(default=None, compare=False)
    message_session: str | None = field(default=None, compare=False)
    is_over: bool = field(default=False, compare=False)  # all of it holds no more (R6)


def pin_pieces(pins: Sequence[Pin], labels: Labels, mark: str = "#") -> list[str]:
    """Return the block of pins as one string a pin; the first begins with the heading.

    The block begins with a heading mark and ends with a blank line (P12). Pinned text is untrusted:
    it is fenced, or one line after its kind.
    """
    if not pins:
        return []
    lines = [
        f"- [{each.number}] {labels.pin_kinds[each.kind.value]}{labels.colon}{_safe(each.text)}\n"
        for each in pins
    ]
    lines[0] = f"{mark} {labels.pins}\n\n{lines[0]}"
    lines[-1] += "\n"
    return lines


def _safe(text: str) -> str:
    stripped = text.strip()
    return stripped if len(stripped.splitlines()) <= 1 else f"\n{fenced(stripped)}"
