"""Expressions of time with another possible meaning: names, idioms, durations, other stories."""

import re

from memci.language.loading import TaskData
from memci.language.times import text_around
from memci.language.times.calendar import Reading

_DATA = TaskData("times")
_RECURRING, _OVER, _NOT_OVER = (_DATA.pattern(name) for name in ("recurring", "over", "not_over"))
_OWN_WORDS, _LOOSE_WORDS, _ABOUT_WORDS, _GENERIC_WORDS = (
    _DATA.words(name) for name in ("own_words", "loose_words", "about_words", "generic_words")
)
_BEFORE_IDIOM = {day: _DATA.words(f"before_{day}") for day in ("yesterday", "today", "tomorrow")}
_OF_A_MONTH = _DATA.pattern("of_a_month")
_TO_COME = _DATA.pattern("to_come", flags=0)
_TAKES_SO_LONG = _DATA.pattern("takes_so_long", flags=0)
_IDEAL, _TITLE, _GENERIC, _STANDS_BEFORE_COUNT = (
    _DATA.pattern(name) for name in ("ideal", "title", "generic", "stands_before_count")
)
_RELATIVE = re.compile(r"(?:last|next|this)\b", re.IGNORECASE)
_NAMED_DAY = re.compile(r"(yesterday|today|tomorrow)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s(?=\s)")
_COUNTED = re.compile(r"\b(?:ago|back|from)\b", re.IGNORECASE)
_IN = re.compile(r"in\b(?!.*\btime\b)", re.IGNORECASE)
_I = re.compile(r"I(?:['’]\w+)?\Z")
_HAN_LETTER = re.compile(r"[^\W\d_a-zA-Z]\Z")


def contradicts_tense(sentence: str, *, ahead: bool) -> bool:
    """Return True if the sentence is in the past and the day is ``ahead``, or the reverse."""
    over, not_over = bool(_OVER.search(sentence)), bool(_NOT_OVER.search(sentence))
    return over and not not_over if ahead else not_over and not over


def is_recurring(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Return True if a day and month may be of every year: "her birthday is on May 5"."""
    return bool(_RECURRING.search(text_around.sentence_around(text, start, end)))


def is_doubtful_chinese(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Return True if a Chinese expression may be an ideal, generic, or counted from an event."""
    words = text[start:end]
    if words.startswith("明"):
        return bool(_IDEAL.search(text[max(0, start - 2) : start]) or _TITLE.match(text, end))
    if words.startswith("今天"):
        return bool(_GENERIC.match(text, end))
    before = text[max(0, start - 1) : start]
    is_counted = words.endswith("前") and bool(_HAN_LETTER.match(before))
    return is_counted and not _STANDS_BEFORE_COUNT.match(before)


def is_doubtful_english(text: str, start: int, end: int, reading: Reading) -> bool:
    """Return True if an English expression may be a title, an idiom, or counted from elsewhere."""
    return (
        _is_counted_from_elsewhere(text, start, end)
        or _is_title(text, start, end)
        or _is_idiom(text, start, end)
        or _is_loose(text, start, end, reading)
        or _is_duration(text, start, end)
    )


def _is_counted_from_elsewhere(text: str, start: int, end: int) -> bool:
    """Return True if it is not counted from today: "my last year", "last week of June"."""
    if not _RELATIVE.match(text, start, end):
        return False
    before = text_around.word_before(text, start)
    is_owned = before in _OWN_WORDS or before.endswith(("'s", "’s"))
    return is_owned or bool(_OF_A_MONTH.match(text, end))


def _is_title(text: str, start: int, end: int) -> bool:
    """Return True if capitals look like a name: "Yesterday Once More", "Last Friday Night"."""
    if not text[start].isupper():
        return False
    after = text_around.word_after(text, end)
    return text_around.inside_sentence(text, start) or (after[:1].isupper() and not _I.match(after))


def _is_idiom(text: str, start: int, end: int) -> bool:
    day = _NAMED_DAY.match(text, start, end)
    if not day:
        return False
    possessive = _POSSESSIVE.match(text, end)
    if possessive:
        return text_around.word_after(text, possessive.end()).lower() in _GENERIC_WORDS
    return text_around.word_before(text, start) in _BEFORE_IDIOM[day[1].lower()]


def _is_duration(text: str, start: int, end: int) -> bool:
    """Return True if "in two weeks" may be a duration and not a date."""
    if not _IN.match(text, start, end):
        return False
    sentence = text_around.sentence_around(text, start, end)
    return not _TO_COME.search(sentence) or bool(_TAKES_SO_LONG.search(sentence))


def _is_loose(text: str, start: int, end: int, reading: Reading) -> bool:
    """Return True if a count is more or less than it says: "over two years ago"."""
    if not _COUNTED.search(text, start, end):
        return False
    before = text_around.word_before(text, start)
    return before in _LOOSE_WORDS or (before in _ABOUT_WORDS and not reading.approximate)
