"""Which facts of a memory hold no more (R6)."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from memci.domain.memory.recall import until_note
from memci.language.clauses import label_of, spans_without_labels
from memci.language.detection import language_of
from memci.language.sentences import Span

# A memory is superseded as a whole if this share of what people told in it is ended: what else it
# tells is then no fact.
_WHOLE = 0.85
_NOT_PEOPLE = re.compile(r"(?:Assistant|Tool|助手|工具)\s?[:：]")


@dataclass(frozen=True, slots=True)
class EndedFacts:
    """Parts of a text that hold no more, word for word; ``whole``: nothing else is told in it."""

    parts: tuple[str, ...]
    whole: bool


def ended_facts(text: str, spans: Collection[Span]) -> EndedFacts | None:
    """Return what is ended of a memory's text; None if nothing is that people told.

    ``spans``: [start, stop) of its clauses that hold no more.
    """
    if not spans:
        return None
    told = _told(text)
    # Where a part of the text was read by itself, its clauses may end elsewhere.
    ended = [span for span in told if any(_covers(other, span) for other in spans)]
    if not ended:
        return None
    share = _length(ended) / _length(told)
    return EndedFacts(tuple(text[start:stop] for start, stop in ended), share >= _WHOLE)


def _covers(one: Span, other: Span) -> bool:
    """Return True if a span has more than half of another one."""
    return 2 * (min(one[1], other[1]) - max(one[0], other[0])) > other[1] - other[0]


def _length(spans: Collection[Span]) -> int:
    return sum(stop - start for start, stop in spans)


def _told(text: str) -> list[Span]:
    """Return the clauses that a person says: in its line, or below the last line with a label.

    A question that is quoted before its answer, in brackets, is not told.
    """
    found, label, line, end = [], "", 0, 0
    for start, stop in spans_without_labels(text):
        while start >= end and end < len(text):  # the next line
            line, end = end, text.find("\n", end) + 1 or len(text)
            label = label_of(text, line, end) or label
        if not (_NOT_PEOPLE.match(label) or text.startswith("[", line)):
            found.append((start, stop))
    return found


@dataclass(frozen=True, slots=True)
class EndedParts:
    """Parts of the memories of some messages that hold no more since ``until``."""

    seqs: frozenset[int]
    parts: tuple[str, ...]
    until: datetime


def with_notes(text: str, seqs: Collection[int], known: Iterable[EndedParts]) -> str:
    """Return a text of some messages with a note behind each part that holds no more.

    ``known``: the first ended first; a part that ended twice gets one note.
    """
    language, notes = language_of(text), dict[int, str]()
    for each in known:
        for part in each.parts if each.seqs.intersection(seqs) else ():
            # Whole words: no part of "I live in Bernau" holds no more.
            found = re.search(rf"(?<![A-Za-z0-9]){re.escape(part)}(?![A-Za-z0-9])", text)
            if found:
                notes.setdefault(found.end(), until_note(each.until, language))
    for at in sorted(notes, reverse=True):
        text = text[:at] + notes[at] + text[at:]
    return text
