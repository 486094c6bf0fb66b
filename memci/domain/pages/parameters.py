"""Parameters of an agent's pages (P7, P8, P13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from memci.domain.agent import check_all, replaced
from memci.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class PageRules:
    """Limits of windows, chapters and pins, checked on creation.

    Raises ``InvalidInputError``, which names the field.
    """

    active_pages: int = 8  # interactions in a session's active chapter (n of P7)
    archive_unused: int = 20  # interactions after which a line never recalled leaves (m of P8)
    archive_unrecalled: int = 40  # … and one that was recalled before (p of P8)
    contents_max_tokens: int = 2_000  # of the Contents Page
    window_max_tokens: int = 8_000
    collapse_above: float = 0.875  # of window_max_tokens: from there on pages are collapsed …
    collapse_to: float = 0.75  # … down to this share of it (P13)
    max_pins: int = 32  # texts that can be pinned (R7)
    pins_max_tokens: int = 1_000  # of the message that shows them
    key_messages_enabled: bool = True  # whether users' key messages are pinned by themselves (R7)
    key_messages_max: int = 8  # of these in one user's sessions; the oldest give way
    key_messages_max_tokens: int = 240  # of their texts, likewise
    plan_tracking_enabled: bool = True  # whether plans are read from what is said (R7)
    attp: bool = False  # whether a page of sys explains ATTP (P15)

    def __post_init__(self) -> None:
        """Check every value against its range."""
        check_all(self)
        if self.collapse_to > self.collapse_above:
            raise InvalidInputError(
                f"expected at most collapse_above, which is {self.collapse_above:g}",
                field="collapse_to",
            )

    def with_values(self, values: Mapping[str, object]) -> Self:
        """Return a copy with some values replaced; an unknown name is an error."""
        return replaced(self, values)
