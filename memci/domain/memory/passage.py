"""The position of a memory's text in its messages, so that it can be extracted again (M24).

Counted in non-blank characters: segments keep only these, in order (M3).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

_SOLID = re.compile(r"\S+")
# Long blanks have no meaning, and a memory would consist of them.
_LONG_BLANK = re.compile(r"\s{100,}")


class Span(NamedTuple):
    """``length`` characters from ``start`` of the first message on, blanks not counted."""

    start: int
    length: int


class Stretch(NamedTuple):
    """A part of some messages: its position, and the text from each message, by seq.

    ``places``: where that text stands in the message, [start, stop) in characters.
    """

    span: Span
    parts: Mapping[int, str]
    places: Mapping[int, tuple[int, int]]

    @property
    def text(self) -> str:
        """The whole text of a memory: the same at each extraction."""
        return "\n".join(self.parts.values())


def solid_length(text: str) -> int:
    """Return the number of non-blank characters."""
    return len("".join(text.split()))


def stretches(texts: Mapping[int, str], lengths: Iterable[int]) -> Iterator[Stretch]:
    """Divide messages, given as texts by seq, into consecutive stretches.

    ``lengths`` count non-blank characters. Blanks at the seams are lost. Takes time linear in the
    texts, whatever the number of stretches.
    """
    rest = _Cutter(texts)
    for length in lengths:
        yield rest.take(length)


def cut_out(texts: Mapping[int, str], span: Span) -> Stretch:
    """Return the stretch at a span of these messages; less if they are shorter."""
    _, found = stretches(texts, span)
    return found


class _Cutter:
    """Takes consecutive stretches from messages."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = iter(texts.items())
        self._seq, self._text = 0, ""
        self._at = self._passed = 0  # in the text; its non-blank characters before that

    def take(self, length: int) -> Stretch:
        parts: dict[int, str] = {}
        places: dict[int, tuple[int, int]] = {}
        start, left = None, length
        while left and (self._at < len(self._text) or self._next_message()):
            end, taken = _reach(self._text, self._at, left)
            if taken:
                start = self._passed if start is None else start
                parts[self._seq] = _LONG_BLANK.sub("\n", self._text[self._at : end].strip())
                places[self._seq] = self._at, end
            self._at, self._passed, left = end, self._passed + taken, left - taken
        return Stretch(Span(start or 0, length - left), parts, places)

    def _next_message(self) -> bool:
        following = next(self._texts, None)
        if following is None:
            return False
        (self._seq, self._text), self._at, self._passed = following, 0, 0
        return True


def _reach(text: str, at: int, most: int) -> tuple[int, int]:
    """Return the end of at most ``most`` non-blank characters, and their number."""
    taken = 0
    for word in _SOLID.finditer(text, at):
        length = word.end() - word.start()
        if taken + length >= most:
            return word.start() + most - taken, most
        taken += length
    return len(text), taken


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of messages: their ``seqs``, ascending, and the span of them.

    ``span`` None: all of them, as in archives without spans. ``quoted``: the question in front
    of the text, which depends on it, or nothing.
    """

    seqs: tuple[int, ...]
    span: Span | None = None
    quoted: tuple[int, ...] = ()

    @property
    def messages(self) -> tuple[int, ...]:
        """Return all source messages of the text, as a memory node lists them."""
        return (*self.quoted, *self.seqs)

    @classmethod
    def of(cls, messages: Iterable[int], details: Mapping[str, Any]) -> Self:
        """Read a passage of all its messages from the details of a trail or a job's payload."""
        quoted, span = tuple(details.get("quoted") or ()), details.get("span")
        seqs = tuple(seq for seq in messages if seq not in quoted)
        return cls(seqs, Span(*span) if span else None, quoted)

    def written(self) -> dict[str, Any]:
        """Return the passage as numbers."""
        return {"seqs": self.messages, "span": self.span, "quoted": self.quoted}


# [start, stop) in the characters of a message.
Place: TypeAlias = tuple[int, int]
Places: TypeAlias = Mapping[int, Sequence[Place]]  # by the message's seq
ALL = Span(0, 2**62)  # of a passage without a span


def places_of(texts: Mapping[int, str], made_of: Iterable[Passage]) -> dict[int, list[Place]]:
    """Return where memories' texts stand in their messages, given as texts by seq.

    A passage of which a message is missing has no place.
    """
    found: dict[int, list[Place]] = {}
    for passage in made_of:
        if texts.keys() >= set(passage.seqs):
            own = {seq: texts[seq] for seq in passage.seqs}
            for seq, place in cut_out(own, passage.span or ALL).places.items():
                found.setdefault(seq, []).append(place)
    return found


def overlap(some: Places, others: Places) -> bool:
    """Return True if a part of a message is in both."""
    return any(
        one[0] < other[1] and other[0] < one[1]
        for seq in some.keys() & others.keys()
        for one in some[seq]
        for other in others[seq]
    )


def joined(places: Iterable[Place]) -> list[Place]:
    """Return the same places, ascending and apart."""
    found: list[Place] = []
    for start, stop in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((start, stop))
    return found


def passages(messages: Iterable[int], details: Mapping[str, Any]) -> tuple[Passage, ...]:
    """Return the passages of a memory: one, or those of all merged memories."""
    parts = details.get("parts")
    if parts:
        return tuple(Passage.of(each["seqs"], each) for each in parts)
    return (Passage.of(messages, details),)


def place_of(made_of: Iterable[Passage]) -> tuple[int, int]:
    """Return the start of a memory: its first message, and the ``Span.start`` in it."""
    return min((each.seqs[0], each.span.start if each.span else 0) for each in made_of)


def details_of(made_of: Iterable[Passage]) -> dict[str, Any]:
    """Return the input of ``passages`` apart from the messages, without empty values.

    Memories of the same messages differ by their ``span``. Merged ones have the spans of all parts,
    one after the other.
    """
    parts = tuple(made_of)
    span = [number for each in parts for number in each.span or ()]
    details: dict[str, Any] = {"span": span} if span else {}
    if len(parts) > 1:
        details["parts"] = [each.written() for each in parts]
    elif parts and parts[0].quoted:
        details["quoted"] = parts[0].quoted
    return details
