"""What an agent notes for its memory itself (R20): a message that it says to nobody.

Such a message has the agent's own role, and says in its metadata what it is. It is no turn of the
conversation: it begins no interaction, answers none, and no window or context shows it as said.
What is made of it is made of it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Where in its metadata a note says that it is one.
NOTE_PATH = ("memci", "noted")
_KEY, _NOTED = NOTE_PATH
_CORRECTS = "corrects"


@dataclass(frozen=True, slots=True)
class Corrected:
    """The memory that a note takes the place of (R6), by what it was made of.

    A number would not do: a rebuilt network gives others, and so does what is restored.
    """

    seqs: tuple[int, ...]
    span: tuple[int, ...] | None


def note_metadata(corrected: Corrected | None = None) -> dict[str, Any]:
    """Return the metadata that make a message a note."""
    said: dict[str, Any] = {_NOTED: True}
    if corrected is not None:
        span = None if corrected.span is None else list(corrected.span)
        said[_CORRECTS] = {"seqs": list(corrected.seqs), "span": span}
    return {_KEY: said}


def is_note(metadata: Mapping[str, Any]) -> bool:
    """Tell whether a message with these metadata is a note."""
    said = metadata.get(_KEY)
    return isinstance(said, Mapping) and said.get(_NOTED) is True


def corrected_by(metadata: Mapping[str, Any]) -> Corrected | None:
    """Return what a note corrects; None also where the metadata are not of our making."""
    said = metadata.get(_KEY)
    if not is_note(metadata) or not isinstance(said, Mapping):
        return None
    corrects = said.get(_CORRECTS)
    if not isinstance(corrects, Mapping):
        return None
    seqs, span = _numbers(corrects.get("seqs")), _numbers(corrects.get("span"))
    return Corrected(seqs, span) if seqs else None


def _numbers(said: object) -> tuple[int, ...] | None:
    if not isinstance(said, Sequence) or isinstance(said, str):
        return None
    if not all(isinstance(each, int) and 0 <= each < 2**62 for each in said):
        return None
    return tuple(said)
