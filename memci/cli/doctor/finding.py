"""What a check found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"  # works, but someone should know
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; ``advice`` says what to do where something is to be done."""

    level: Level
    subject: str
    text: str
    advice: str = ""

    def as_json(self) -> dict[str, str]:
        """Return it in JSON values."""
        return {name: str(value) for name, value in asdict(self).items()}


def ok(subject: str, text: str) -> Finding:
    """All is well."""
    return Finding(Level.OK, subject, text)


def note(subject: str, text: str, advice: str = "") -> Finding:
    """Someone should know."""
    return Finding(Level.NOTE, subject, text, advice)


def wrong(subject: str, text: str, advice: str) -> Finding:
    """Something does not work."""
    return Finding(Level.WRONG, subject, text, advice)
