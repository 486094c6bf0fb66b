"""When an English expression does not mean what its words say: names, idioms, other stories."""

from __future__ import annotations

import re

from memci.domain.time.english_numbers import ABOUT, LOOSENS
from memci.domain.time.mention import Reading
from memci.domain.time.surroundings import inside_sentence, word_after, word_before

# "The last week" and "my last year" are not counted from today.
_OWN = frozenset(
    "the a an my your his her its our their every each one whose whole entire very second third "
    "final no any another".split()
)
_STEP = re.compile(r"(?:this\s+)?(?:last|next|this|past|coming)\b", re.IGNORECASE)
# "Last week of June", "last Friday in May".
_OF = re.compile(
    r"(?:['’]s)?\s+(?:of|in\s+(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|\d{4}))\b",
    re.IGNORECASE,
)
_IDIOM_BEFORE = {
    "yesterday": frozenset("of born like only".split()),
    "today": frozenset("of ago people kids children society world technology nowadays".split()),
    "tomorrow": frozenset("of a no better brighter until till for's".split()),
}
_GENERIC = frozenset(
    "world youth society generation generations kids children standards age technology market "
    "economy leaders culture life times era students teens women men parents workers problems "
    "fast-paced modern young".split()
)
_NAMED_DAY = re.compile(r"(yesterday|today|tomorrow)\b", re.IGNORECASE)
_AGO = re.compile(r"\b(?:ago|back|from)\b", re.IGNORECASE)
_I = re.compile(r"I(?:['’]\w+)?\Z")


def doubtful(text: str, start: int, end: int, reading: Reading) -> bool:
    """Tell whether an English expression may be a title, an idiom, or counted from elsewhere."""
    return (
        _counted_from_elsewhere(text, start, end)
        or _perhaps_title(text, start, end)
        or _idiom(text, start, end)
        or _loose(text, start, end, reading)
    )


def _counted_from_elsewhere(text: str, start: int, end: int) -> bool:
    """Tell whether "last week" is another's: "the last week", "my last year", "last week of"."""
    if not _STEP.match(text, start, end):
        return False
    before = word_before(text, start)
    return before in _OWN or before.endswith(("'s", "’s")) or bool(_OF.match(text, end))


def _loose(text: str, start: int, end: int, reading: Reading) -> bool:
    """Tell whether a count is more or less than it says: "over two years ago"."""
    if not _AGO.search(text, start, end):
        return False
    before = word_before(text, start)
    return before in LOOSENS or (before in ABOUT and not reading.approximate)


def _perhaps_title(text: str, start: int, end: int) -> bool:
    """Tell whether capitals look like a name: "Yesterday Once More", "Last Friday Night"."""
    if not text[start].isupper():
        return False
    after = word_after(text, end)
    named = after[:1].isupper() and not _I.match(after)
    return inside_sentence(text, start) or (named and not text[start:end].isupper())


def _idiom(text: str, start: int, end: int) -> bool:
    day = _NAMED_DAY.match(text, start, end)
    if not day:
        return False
    if re.match(r"['’]s\s", text[end : end + 3]):
        return word_after(text, end + 2).lower() in _GENERIC
    return word_before(text, start) in _IDIOM_BEFORE[day[1].lower()]
