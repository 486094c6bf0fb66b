"""Which facts of a memory hold no more (R6)."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from memci.domain.memory.recall import until_note
from memci.language.clauses import label_of, spans_without_labels
from memci.language.detection import language_of
from memci.language.sentences import Span

# A memory is superseded as a whole if this share of what people told in it is ended.
_WHOLE = 0.6
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
    told = [span for span in spans_without_labels(text) if _is_told(text, span)]
    ended = [span for span in told if span in spans]
    if not ended:
        return None
    share = _length(ended) / _length(told)
    return EndedFacts(tuple(text[start:stop] for start, stop in ended), share >= _WHOLE)


def _length(spans: Collection[Span]) -> int:
    return sum(stop - start for start, stop in spans)


def _is_told(text: str, span: Span) -> bool:
    """Return True if a person says this part: its line, or the last labelled line before.

    A question that is quoted before its answer, in brackets, is not told.
    """
    label, line = "", 0
    for line, stop in _lines(text[: span[1]]):
        label = label_of(text, line, stop) or label
    return not (_NOT_PEOPLE.match(label) or text.startswith("[", line))


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


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
    language, noted = language_of(text), set[str]()
    for each in known:
        for part in each.parts if each.seqs.intersection(seqs) else ():
            if part not in noted:
                # Whole words: no part of "I live in Bernau" holds no more.
                found = re.search(rf"(?<![A-Za-z0-9]){re.escape(part)}(?![A-Za-z0-9])", text)
                if found:
                    note = until_note(each.until, language)
                    text = text[: found.end()] + note + text[found.end() :]
                noted.add(part)
    return text
