"""English expressions of time that are relative to the day of the message.

Two conventions compete: "last Friday" is the latest Friday, or the Friday of last week; and a week
begins on Monday, or on Sunday. A reading is certain where both give the same days.
``is_doubtful`` finds expressions that mean something else: names, idioms, other stories.
"""

from __future__ import annotations

import re
from datetime import date

from memci.language.times import calendar
from memci.language.times.calendar import (
    EN_NUMBER,
    SATURDAY,
    SEASONS,
    STEPS,
    SUNDAY,
    english_number,
)
from memci.language.times.dates import MONTH, MONTH_WORDS, month_number
from memci.language.times.rules import (
    Reading,
    Rule,
    as_guess,
    inside_sentence,
    sentence_around,
    word_after,
    word_before,
)

_THURSDAY = 3
_FEBRUARY, _HALF_A_YEAR = 2, 6

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = (
    "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    "|(?-i:Mon|Tues?|Weds?|Thurs?|Thu|Fri|Sat|Sun))\\b"
)
_PART = r"(?:\s+(?:morning|afternoon|evening|night)\b)?"
_UNIT = "(?P<unit>day|week|month|year)"
_WHICH = r"(?P<which>(?:this|the)\s+(?:past|coming)|this\s+(?:last|next)|last|next|this)"
_UNITS = ("day", "week", "month", "year")
_PAST = ("past", "last")

_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1, "tonight": 0}


def _index(name: str) -> int:
    return _WEEKDAYS.index(name[:3].lower())


def _which(match: re.Match[str]) -> tuple[str, bool]:
    """Return last, this or next, and True if "past" or "coming" makes it unambiguous."""
    words = match["which"].lower().split()
    if len(words) > 1:
        return ("last" if words[-1] in _PAST else "next"), True
    return words[0], False


def _named_day(match: re.Match[str], said: date) -> Reading:
    return calendar.day(said, _DAYS[match["day"].lower()])


def _night(_match: re.Match[str], said: date) -> Reading:
    return calendar.day(said, -1)


def _part_of_today(_match: re.Match[str], said: date) -> Reading:
    return calendar.day(said, 0)


def _beyond(match: re.Match[str], said: date) -> Reading:
    return calendar.day(said, -2 if match["side"].lower() == "before" else 2)


def _weekday(match: re.Match[str], said: date) -> Reading:
    which, plain = _which(match)
    day, today = _index(match["day"]), said.weekday()
    latest, coming = -((today - day) % 7 or 7), (day - today) % 7 or 7
    if which == "last":
        return as_guess(calendar.day(said, latest), sure=plain or day >= today)
    if which == "next":
        agreed = day <= today and (today != SUNDAY or day == SUNDAY)
        return as_guess(calendar.day(said, coming), sure=plain or agreed)
    return as_guess(calendar.weekday(said, 0, day), sure=day > today)


def _bare_weekday(match: re.Match[str], said: date) -> Reading:
    return calendar.latest_weekday(said, _index(match["day"]))


def _weekend(match: re.Match[str], said: date) -> Reading:
    which, plain = _which(match)
    today = said.weekday()
    on_it = today >= SATURDAY
    if which == "last":
        return as_guess(calendar.weekend(said, -1), sure=not (plain and on_it))
    if which == "next" and plain:
        return as_guess(calendar.weekend(said, int(on_it)), sure=not on_it)
    if which == "next":
        return as_guess(calendar.weekend(said, 1), sure=on_it)
    # "This weekend", said on a Monday, is as often the one that is just over.
    return as_guess(calendar.weekend(said, 0), sure=today >= _THURSDAY)


def _calendar(match: re.Match[str], said: date) -> Reading:
    """Read last, this or next week, month or year; "this past week" rolls back from today."""
    which, plain = _which(match)
    unit, step = match["unit"].lower(), STEPS[which]
    if plain:
        return calendar.rolling(said, unit, step)
    if unit == "week":
        return as_guess(calendar.week(said, step), sure=said.weekday() != SUNDAY)
    return calendar.month(said, step) if unit == "month" else calendar.year(said, step)


def _month(match: re.Match[str], said: date) -> Reading | None:
    which, plain = _which(match)
    month = month_number(match["m"])
    capital = match["m"][0].isupper()
    if which == "this" and not capital:
        return None  # "this may help"
    if which == "last":
        past = calendar.month_of(said.year - (month >= said.month), month)
        return as_guess(past, sure=capital and (plain or month >= said.month))
    if which == "next":
        coming = calendar.month_of(said.year + (month <= said.month), month)
        return as_guess(coming, sure=capital and (plain or month <= said.month))
    # "This May", said in November, may be the next one.
    return as_guess(
        calendar.month_of(said.year, month), sure=abs(said.month - month) <= _HALF_A_YEAR
    )


def _bare_month(match: re.Match[str], said: date) -> Reading:
    month = month_number(match["m"])
    return as_guess(calendar.month_of(said.year - (month > said.month), month))


def _season(match: re.Match[str], said: date) -> Reading:
    which, _ = _which(match)
    name = match["season"].lower().replace("fall", "autumn")
    this = calendar.season(said.year - (name == "winter" and said.month <= _FEBRUARY), name)
    if which == "last" and this.last >= said:
        return calendar.season(this.first.year - 1, name)
    if which == "next" and this.first <= said:
        return calendar.season(this.first.year + 1, name)
    return this


def _distant(match: re.Match[str], said: date) -> Reading:
    """Read "two days ago", "three weeks from now"."""
    count = english_number(match["n"])
    back = match["side"].lower() in ("ago", "back")
    return calendar.distant(said, match["unit"].lower(), -count if back else count)


def _weekends_ago(match: re.Match[str], said: date) -> Reading:
    return as_guess(
        calendar.weekend(said, -english_number(match["n"])), sure=said.weekday() < SATURDAY
    )


def _coming(match: re.Match[str], said: date) -> Reading:
    """Read "in three weeks", which may also be a duration: see ``_lasting``."""
    return calendar.distant(said, match["unit"].lower(), english_number(match["n"]))


def _vague(match: re.Match[str], said: date) -> Reading:
    """Read "a few days ago", "a couple of weeks ago"."""
    unit = match["unit"].lower()
    counts = (1, 3) if match["two"] else (2, 7)
    near, far = (calendar.rolling(said, unit, -count).first for count in counts)
    return as_guess(calendar.period(far, near))


def _rolling(match: re.Match[str], said: date) -> Reading:
    count = english_number(match["n"]) if match["n"] else 1
    return calendar.rolling(said, match["unit"].lower(), -count)


def _next_but_one(match: re.Match[str], said: date) -> Reading:
    step = -2 if match["which"].lower() == "last" else 2
    unit = match["unit"].lower()
    if unit == "month":
        return calendar.month(said, step)
    if unit == "year":
        return calendar.year(said, step)
    if unit == "week":
        return as_guess(calendar.week(said, step), sure=said.weekday() != SUNDAY)
    return as_guess(calendar.weekend(said, step), sure=step < 0 and said.weekday() < SATURDAY)


_SEASON = f"(?P<season>{'|'.join(SEASONS)})"
_VAGUE = r"(?:a\s+few|(?P<two>a\s+couple(?:\s+of)?|couple\s+of)|several|some|many|few)"

RELATIVE_RULES = (
    Rule.of(r"\b(?:the\s+)?day\s+(?P<side>before)\s+yesterday\b" + _PART, _beyond, "day"),
    Rule.of(r"\b(?:the\s+)?day\s+(?P<side>after)\s+tomorrow\b" + _PART, _beyond, "day"),
    Rule.of(rf"\b(?P<day>yesterday|today|tomorrow)\b{_PART}", _named_day, *_DAYS),
    Rule.of(r"\b(?P<day>tonight)\b", _named_day, "tonight"),
    Rule.of(r"\blast\s+(?:night|evening)\b", _night, "last"),
    Rule.of(r"\bthis\s+(?:morning|afternoon|evening)\b", _part_of_today, "this"),
    Rule.of(rf"\b{_WHICH}\s+(?P<day>{_WEEKDAY}){_PART}", _weekday, *_WEEKDAYS),
    Rule.of(rf"\b{_WHICH}\s+weekend\b", _weekend, "weekend"),
    Rule.of(rf"\b{_WHICH}\s+(?P<unit>week|month|year)\b", _calendar, *_UNITS),
    Rule.of(rf"\b{_WHICH}\s+(?P<m>{MONTH})(?!\s+\d)", _month, *MONTH_WORDS),
    Rule.of(rf"\b{_WHICH}\s+{_SEASON}\b", _season, *SEASONS),
    Rule.of(r"\b(?:the\s+)?(?P<unit>week|weekend|month|year)\s+before\s+(?P<which>last)\b",
            _next_but_one, "last"),
    Rule.of(r"\b(?:the\s+)?(?P<unit>week|weekend|month|year)\s+after\s+(?P<which>next)\b",
            _next_but_one, "next"),
    Rule.of(rf"{EN_NUMBER}\s+{_UNIT}s?\s+(?P<side>ago|back)\b", _distant, "ago", "back"),
    Rule.of(rf"{EN_NUMBER}\s+{_UNIT}s?\s+(?P<side>from\s+(?:now|today))\b", _distant, "from"),
    Rule.of(rf"\bin\s+{EN_NUMBER}\s+{_UNIT}s?['’]?\s+(?P<side>time)\b", _distant, "time"),
    Rule.of(rf"{EN_NUMBER}\s+weekends?\s+ago\b", _weekends_ago, "weekend"),
    Rule.of(rf"\bin\s+{EN_NUMBER}\s+{_UNIT}s?\b(?!['’]?\s+time)", _coming, *_UNITS),
    Rule.of(rf"\b{_VAGUE}\s+{_UNIT}s?\s+(?:ago|back)\b", _vague, "ago", "back"),
    Rule.of(
        rf"\b(?:in|over|during|for|within)\s+(?P<mention>the\s+(?:last|past)\s+"
        rf"(?:(?:{EN_NUMBER})\s+)?{_UNIT}s?)\b",
        _rolling,
        *_UNITS,
    ),
    Rule.of(rf"\b(?=(?-i:[A-Z]))(?P<day>{_WEEKDAY}){_PART}", _bare_weekday, *_WEEKDAYS),
    Rule.of(
        r"\b(?:in|since|until|till|by|during|before|after|early|late|mid)[\s-]+"
        rf"(?P<mention>(?=(?-i:[A-Z]))(?P<m>{MONTH}))(?!\s+\d|,?\s+\d{{4}})",
        _bare_month,
        *MONTH_WORDS,
    ),
)  # fmt: skip


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
_RELATIVE = re.compile(r"(?:last|next|this)\b", re.IGNORECASE)
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


def is_doubtful(text: str, start: int, end: int, reading: Reading) -> bool:
    """Return True if an English expression may be a title, an idiom, or counted from elsewhere."""
    return (
        _counted_from_elsewhere(text, start, end)
        or _perhaps_title(text, start, end)
        or _idiom(text, start, end)
        or _loose(text, start, end, reading)
        or _lasting(text, start, end)
    )


def _counted_from_elsewhere(text: str, start: int, end: int) -> bool:
    """Return True if it is not counted from today: "my last year", "last week of June"."""
    if not _RELATIVE.match(text, start, end):
        return False
    before = word_before(text, start)
    return before in _OWN or before.endswith(("'s", "’s")) or bool(_OF.match(text, end))


def _perhaps_title(text: str, start: int, end: int) -> bool:
    """Return True if capitals look like a name: "Yesterday Once More", "Last Friday Night"."""
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
    """Return True if "in two weeks" may be a duration and not a date."""
    if not _IN.match(text, start, end):
        return False
    sentence = sentence_around(text, start, end)
    return not _TO_COME.search(sentence) or bool(_TAKES.search(sentence))


def _loose(text: str, start: int, end: int, reading: Reading) -> bool:
    """Return True if a count is more or less than it says: "over two years ago"."""
    if not _COUNTED.search(text, start, end):
        return False
    before = word_before(text, start)
    return before in _LOOSE or (before in _ABOUT and not reading.approximate)
