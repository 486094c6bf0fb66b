"""What a file holds: messages, and what was left out of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from memci.errors import InvalidInputError


class BadFileError(InvalidInputError):
    """The file cannot be read as messages."""


@dataclass(slots=True)
class Parsed:
    """Messages in their order, each in the shape of the surface, and where each stands.

    ``ignored`` counts the fields that memci has no use for, by name.
    """

    format: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)

    def add(self, message: dict[str, Any], place: str) -> None:
        """Add a message; ``place`` is said in errors, such as ``line 12``."""
        self.messages.append(message)
        self.places.append(place)
