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
            found = _find(part, text)
            if found:
                notes.setdefault(found[1], until_note(each.until, language))
    for at in sorted(notes, reverse=True):
        text = text[:at] + notes[at] + text[at:]
    return text


# What a memory has and its message has not, and what a shortened memory begins without.
_DATE = r"\s?[(（][0-9][0-9 ,:–—-]{3,40}[)）]"
_CONJUNCTION = r"(?:and|but|so)\s+|而且|但是|并且|所以"


def _find(part: str, text: str) -> Span | None:
    """Return where a part stands in its message, or in a memory of it, which may be shortened.

    As whole words: no part of "I live in Bernau" holds no more.
    """
    said = re.split(_DATE, re.sub(rf"^(?:{_CONJUNCTION})", "", part, flags=re.IGNORECASE))
    first, *rest = (re.escape(each) for each in said)
    words = rf"(?:{_DATE})?".join([rf"(?i:{first})", *rest])
    found = re.search(rf"(?<![A-Za-z0-9]){words}(?![A-Za-z0-9])", text)
    return found.span() if found else None


_ENDS, _GAPS = ".!?。！？…\n", " \t,;，；、"
_LONGEST_CONJUNCTION = 10


def without_ended(text: str, parts: Iterable[str]) -> str:
    """Return a memory's text without the parts that hold no more; "" if it tells nothing else."""
    for part in parts:
        found = _find(part, text)
        if found:
            text = _without(text, *found)
    told = "".join(text[start:stop] for start, stop in _told(text)).rstrip()
    is_label = told.endswith((":", "："))
    return text if any(map(str.isalnum, told)) and not is_label else ""


def _without(text: str, start: int, stop: int) -> str:
    """Return a text without a part of it, and without the marks that joined it with others."""
    tail = text[max(0, start - _LONGEST_CONJUNCTION) : start]
    conjunction = re.search(rf"(?<![A-Za-z])(?:{_CONJUNCTION})$", tail, re.IGNORECASE)
    before, after = text[: start - len(conjunction[0]) if conjunction else start], text[stop:]
    begins = before.rstrip(_GAPS)[-1:] in (*_ENDS, "", ":", "：")
    ends = not after or after[0] in _ENDS
    if not begins:
        return before.rstrip(_GAPS) + after if ends else before + after.lstrip(_GAPS)
    if ends:
        return before + after.lstrip(_ENDS + _GAPS)
    after = re.sub(rf"^(?:{_CONJUNCTION})", "", after.lstrip(_GAPS), flags=re.IGNORECASE)
    return before + after[:1].upper() + after[1:]
