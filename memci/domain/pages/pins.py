"""Texts that stay in sight until they are taken down (R7, P13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memci.domain.pages.labels import Labels, fenced
from memci.language.key_messages.rules import PinKind

# What they are called in a window's account, beside the segments; so no segment may be.
PINS = "pins"


class Maker(StrEnum):
    """Who pinned a text."""

    AGENT = "agent"
    DEVELOPER = "developer"
    DETECTOR = "detector"  # of key messages


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned text; ``number`` names it for ever among its agent's.

    ``by``: who pinned it, a ``Maker``. ``message_seq``: the message whose text it is; None: it was
    given as a text. ``span``: which part of that text, [start, end) in characters; None: all of it;
    ``said``: all of it, where that is known.
    ``user_id``: in whose sessions alone it is shown; None: in all. ``session_id``: in which session
    alone; None: in all. ``speaker`` and ``said_in``: the ``name`` and
    the session of its message.
    """

    number: int
    kind: PinKind
    text: str
    by: str
    created_at: datetime
    message_seq: int | None = None
    user_id: str | None = None
    span: tuple[int, int] | None = None
    session_id: str | None = None
    said: str | None = field(default=None, compare=False, repr=False)
    speaker: str | None = field(default=None, compare=False)
    said_in: str | None = field(default=None, compare=False)


def pin_pieces(pins: Sequence[Pin], labels: Labels, mark: str = "#") -> list[str]:
    """Return the block of pins, pin by pin; the first piece begins with its heading.

    Like every block it begins with a heading mark and ends with a blank line (P12). What is pinned
    is untrusted: it is on one line, behind its kind, or fenced.
    """
    if not pins:
        return []
    lines = [
        f"- [{each.number}] {labels.pin_kinds[each.kind.value]}{labels.colon}{_shown(each.text)}\n"
        for each in pins
    ]
    lines[0] = f"{mark} {labels.pins}\n\n{lines[0]}"
    lines[-1] += "\n"
    return lines


def _shown(text: str) -> str:
    stripped = text.strip()
    return stripped if len(stripped.splitlines()) <= 1 else f"\n{fenced(stripped)}"
