"""When an English expression does not mean what its words say: names, idioms, other stories."""

from __future__ import annotations

import re

from memci.domain.time.mention import Reading
from memci.domain.time.surroundings import inside_sentence, sentence_around, word_after, word_before

# "The last week" and "my last year" are not counted from today.
_OWN_WORDS = """
    the a an my your his her its our their every each one whose whole entire very second third
    final no any another
"""
# "Five or six", "more than two", "and a half", "a hundred and three": not that number.
_LOOSE_WORDS = """
    or to and than over under least most hundred thousand half few couple of point every each
    - – — ~ /
"""
_ABOUT_WORDS = "about around nearly almost roughly maybe approximately"
# "Today's youth" has no date.
_GENERIC_WORDS = """
    world youth society generation generations kids children standards age technology market
    economy leaders culture life times era students teens women men parents workers problems
    fast-paced modern young
"""
_OWN, _LOOSE, _ABOUT, _GENERIC = (
    frozenset(words.split()) for words in (_OWN_WORDS, _LOOSE_WORDS, _ABOUT_WORDS, _GENERIC_WORDS)
)
# "Born yesterday", "kids today", "a week ago today", "no tomorrow".
_IDIOM_BEFORE = {
    "yesterday": {"of", "born", "like", "only"},
    "today": {"of", "ago", "people", "kids", "children", "society", "world", "technology"},
    "tomorrow": {"of", "a", "no", "better", "brighter", "until", "till"},
}
_STEP = re.compile(r"(?:last|next|this)\b", re.IGNORECASE)
# "Last week of June", "last Friday in May".
_OF = re.compile(
    r"(?:['’]s)?\s+(?:of|in\s+(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|\d{4}))\b",
    re.IGNORECASE,
)
_NAMED_DAY = re.compile(r"(yesterday|today|tomorrow)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s(?=\s)")
_COUNTED = re.compile(r"\b(?:ago|back|from)\b", re.IGNORECASE)
_IN = re.compile(r"in\b(?!.*\btime\b)", re.IGNORECASE)
_TO_COME = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|is|are|am|starts?|begins?|leaves?|ends?|opens?|due|"
    r"have|has|"
    r"starting|moving|leaving|coming|flying|meeting|see you|next|back)\b|['’](?:ll|m|re)\b"
)
# Told of the past, of what can be done so fast, or of another's story.
_TAKES = re.compile(
    r"\b(?:was|were|did|had|been|\w{2,}ed|went|got|made|took|learnt|lost|wrote|read|built|ran|"
    r"can|could|would|might|should|may|if|once|twice|times?|first|only|within|every|per|done|gone|"
    r"enough|how|possible|lose|learn|finish|seen|eaten|slept)\b|['’]ve\b"
)
_I = re.compile(r"I(?:['’]\w+)?\Z")


def doubtful(text: str, start: int, end: int, reading: Reading) -> bool:
    """Tell whether an English expression may be a title, an idiom, or counted from elsewhere."""
    return (
        _counted_from_elsewhere(text, start, end)
        or _perhaps_title(text, start, end)
        or _idiom(text, start, end)
        or _loose(text, start, end, reading)
        or _lasting(text, start, end)
    )


def _counted_from_elsewhere(text: str, start: int, end: int) -> bool:
    """Tell whether it is another's: "the last week", "my last year", "last week of June"."""
    if not _STEP.match(text, start, end):
        return False
    before = word_before(text, start)
    return before in _OWN or before.endswith(("'s", "’s")) or bool(_OF.match(text, end))


def _perhaps_title(text: str, start: int, end: int) -> bool:
    """Tell whether capitals look like a name: "Yesterday Once More", "Last Friday Night"."""
    if not text[start].isupper():
        return False
    after = word_after(text, end)
    named = after[:1].isupper() and not _I.match(after)
    return inside_sentence(text, start) or named


def _idiom(text: str, start: int, end: int) -> bool:
    day = _NAMED_DAY.match(text, start, end)
    if not day:
        return False
    possessive = _POSSESSIVE.match(text, end)
    if possessive:
        return word_after(text, possessive.end()).lower() in _GENERIC
    return word_before(text, start) in _IDIOM_BEFORE[day[1].lower()]


def _lasting(text: str, start: int, end: int) -> bool:
    """Tell whether "in two weeks" may be how long something takes, and not when it is to be."""
    if not _IN.match(text, start, end):
        return False
    sentence = sentence_around(text, start, end)
    return not _TO_COME.search(sentence) or bool(_TAKES.search(sentence))


def _loose(text: str, start: int, end: int, reading: Reading) -> bool:
    """Tell whether a count is more or less than it says: "over two years ago"."""
    if not _COUNTED.search(text, start, end):
        return False
    before = word_before(text, start)
    return before in _LOOSE or (before in _ABOUT and not reading.approximate)
