"""What a memory was made of, so that it can be told again word for word (M24)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from memci.domain.memory.span import Span


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of messages: their ``seqs``, ascending, and the span of them.

    ``span`` None: all of them, as with what was made before spans were kept. ``quoted``: the
    question that stands in front of the text because it leans on it, or nothing.
    """

    seqs: tuple[int, ...]
    span: Span | None = None
    quoted: tuple[int, ...] = ()

    @property
    def messages(self) -> tuple[int, ...]:
        """Return all messages that the text comes from, as a memory node names them."""
        return (*self.quoted, *self.seqs)

    @classmethod
    def of(cls, messages: Iterable[int], details: Mapping[str, Any]) -> Self:
        """Return one of all its messages, and what a trail or a job's payload says of them."""
        quoted, span = tuple(details.get("quoted") or ()), details.get("span")
        seqs = tuple(seq for seq in messages if seq not in quoted)
        return cls(seqs, Span(*span) if span else None, quoted)

    def written(self) -> dict[str, Any]:
        """Return it in numbers alone."""
        return {"seqs": self.messages, "span": self.span, "quoted": self.quoted}


def passages(messages: Iterable[int], details: Mapping[str, Any]) -> tuple[Passage, ...]:
    """Return what a memory was made of: one passage, or those of all that were merged into it."""
    parts = details.get("parts")
    if parts:
        return tuple(Passage.of(each["seqs"], each) for each in parts)
    return (Passage.of(messages, details),)


def place_of(made_of: Iterable[Passage]) -> tuple[int, int]:
    """Return where a memory begins: in which message, and how far in it (``Span.start``)."""
    return min((each.seqs[0], each.span.start if each.span else 0) for each in made_of)


def details_of(made_of: Iterable[Passage]) -> dict[str, Any]:
    """Return what ``passages`` reads beside the messages, without what is empty.

    Memories of the same messages differ by their ``span``: of merged ones it holds the spans of
    all parts, one behind the other.
    """
    parts = tuple(made_of)
    span = [number for each in parts for number in each.span or ()]
    details: dict[str, Any] = {"span": span} if span else {}
    if len(parts) > 1:
        details["parts"] = [each.written() for each in parts]
    elif parts and parts[0].quoted:
        details["quoted"] = parts[0].quoted
    return details
