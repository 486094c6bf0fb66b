"""English expressions of time that are relative to the day on which they are said.

Two conventions compete: "last Friday" is the latest Friday, or the Friday of last week; and a week
begins on Monday, or on Sunday. A reading is certain where they agree on the days.
"""

from __future__ import annotations

import re
from datetime import date

from memci.domain.time import spans
from memci.domain.time.absolute import MONTH, MONTH_WORDS, month_number
from memci.domain.time.english_numbers import NUMBER, number
from memci.domain.time.mention import Reading, unsure
from memci.domain.time.rule import Rule

_SATURDAY, _SUNDAY = 5, 6
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
_STEP = {"last": -1, "this": 0, "next": 1}
_PAST = ("past", "last")

_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1, "tonight": 0}


def _index(name: str) -> int:
    return _WEEKDAYS.index(name[:3].lower())


def _which(match: re.Match[str]) -> tuple[str, bool]:
    """Return last, this or next; and whether "past" or "coming" says which one is meant."""
    words = match["which"].lower().split()
    if len(words) > 1:
        return ("last" if words[-1] in _PAST else "next"), True
    return words[0], False


def _named_day(match: re.Match[str], said: date) -> Reading:
    return spans.day(said, _DAYS[match["day"].lower()])


def _night(_match: re.Match[str], said: date) -> Reading:
    return spans.day(said, -1)


def _part_of_today(_match: re.Match[str], said: date) -> Reading:
    return spans.day(said, 0)


def _beyond(match: re.Match[str], said: date) -> Reading:
    return spans.day(said, -2 if match["side"].lower() == "before" else 2)


def _weekday(match: re.Match[str], said: date) -> Reading:
    which, plain = _which(match)
    day, today = _index(match["day"]), said.weekday()
    latest, coming = -((today - day) % 7 or 7), (day - today) % 7 or 7
    if which == "last":
        return unsure(spans.day(said, latest), sure=plain or day >= today)
    if which == "next":
        agreed = day <= today and (today != _SUNDAY or day == _SUNDAY)
        return unsure(spans.day(said, coming), sure=plain or agreed)
    return unsure(spans.weekday(said, 0, day), sure=day > today)


def _bare_weekday(match: re.Match[str], said: date) -> Reading:
    return unsure(spans.day(said, -((said.weekday() - _index(match["day"])) % 7)))


def _weekend(match: re.Match[str], said: date) -> Reading:
    which, plain = _which(match)
    today = said.weekday()
    on_it = today >= _SATURDAY
    if which == "last":
        return unsure(spans.weekend(said, -1), sure=not (plain and on_it))
    if which == "next" and plain:
        return unsure(spans.weekend(said, int(on_it)), sure=not on_it)
    if which == "next":
        return unsure(spans.weekend(said, 1), sure=on_it)
    # "This weekend", said on a Monday, is as often the one that is just over.
    return unsure(spans.weekend(said, 0), sure=today >= _THURSDAY)


def _calendar(match: re.Match[str], said: date) -> Reading:
    """Read last, this or next week, month or year; "this past week" rolls back from today."""
    which, plain = _which(match)
    unit, step = match["unit"].lower(), _STEP[which]
    if plain:
        return spans.rolling(said, unit, step)
    if unit == "week":
        return unsure(spans.week(said, step), sure=said.weekday() != _SUNDAY)
    return spans.month(said, step) if unit == "month" else spans.year(said, step)


def _month(match: re.Match[str], said: date) -> Reading | None:
    which, plain = _which(match)
    month = month_number(match["m"])
    capital = match["m"][0].isupper()
    if which == "this" and not capital:
        return None  # "this may help"
    if which == "last":
        past = spans.month_of(said.year - (month >= said.month), month)
        return unsure(past, sure=capital and (plain or month >= said.month))
    if which == "next":
        coming = spans.month_of(said.year + (month <= said.month), month)
        return unsure(coming, sure=capital and (plain or month <= said.month))
    # "This May", said in November, may be the next one.
    return unsure(spans.month_of(said.year, month), sure=abs(said.month - month) <= _HALF_A_YEAR)


def _bare_month(match: re.Match[str], said: date) -> Reading:
    month = month_number(match["m"])
    return unsure(spans.month_of(said.year - (month > said.month), month))


def _season(match: re.Match[str], said: date) -> Reading:
    which, _ = _which(match)
    name = match["season"].lower().replace("fall", "autumn")
    this = spans.season(said.year - (name == "winter" and said.month <= _FEBRUARY), name)
    if which == "last" and this.last >= said:
        return spans.season(this.first.year - 1, name)
    if which == "next" and this.first <= said:
        return spans.season(this.first.year + 1, name)
    return this


def _distant(match: re.Match[str], said: date) -> Reading:
    """Read "two days ago", "three weeks from now"."""
    count = number(match["n"])
    back = match["side"].lower() in ("ago", "back")
    return spans.distant(said, match["unit"].lower(), -count if back else count)


def _weekends_ago(match: re.Match[str], said: date) -> Reading:
    return unsure(spans.weekend(said, -number(match["n"])), sure=said.weekday() < _SATURDAY)


def _coming(match: re.Match[str], said: date) -> Reading:
    """Read "in three weeks", which is also how long something took: ``english_doubts`` tells."""
    return spans.distant(said, match["unit"].lower(), number(match["n"]))


def _vague(match: re.Match[str], said: date) -> Reading:
    """Read "a few days ago", "a couple of weeks ago"."""
    unit = match["unit"].lower()
    counts = (1, 3) if match["two"] else (2, 7)
    near, far = (spans.rolling(said, unit, -count).first for count in counts)
    return unsure(spans.period(far, near))


def _rolling(match: re.Match[str], said: date) -> Reading:
    count = number(match["n"]) if match["n"] else 1
    return spans.rolling(said, match["unit"].lower(), -count)


def _next_but_one(match: re.Match[str], said: date) -> Reading:
    step = -2 if match["which"].lower() == "last" else 2
    unit = match["unit"].lower()
    if unit == "month":
        return spans.month(said, step)
    if unit == "year":
        return spans.year(said, step)
    if unit == "week":
        return unsure(spans.week(said, step), sure=said.weekday() != _SUNDAY)
    return unsure(spans.weekend(said, step), sure=step < 0 and said.weekday() < _SATURDAY)


_SEASONS = ("spring", "summer", "autumn", "fall", "winter")
_SEASON = f"(?P<season>{'|'.join(_SEASONS)})"
_VAGUE = r"(?:a\s+few|(?P<two>a\s+couple(?:\s+of)?|couple\s+of)|several|some|many|few)"

RULES = (
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
    Rule.of(rf"\b{_WHICH}\s+{_SEASON}\b", _season, *_SEASONS),
    Rule.of(r"\b(?:the\s+)?(?P<unit>week|weekend|month|year)\s+before\s+(?P<which>last)\b",
            _next_but_one, "last"),
    Rule.of(r"\b(?:the\s+)?(?P<unit>week|weekend|month|year)\s+after\s+(?P<which>next)\b",
            _next_but_one, "next"),
    Rule.of(rf"{NUMBER}\s+{_UNIT}s?\s+(?P<side>ago|back)\b", _distant, "ago", "back"),
    Rule.of(rf"{NUMBER}\s+{_UNIT}s?\s+(?P<side>from\s+(?:now|today))\b", _distant, "from"),
    Rule.of(rf"\bin\s+{NUMBER}\s+{_UNIT}s?['’]?\s+(?P<side>time)\b", _distant, "time"),
    Rule.of(rf"{NUMBER}\s+weekends?\s+ago\b", _weekends_ago, "weekend"),
    Rule.of(rf"\bin\s+{NUMBER}\s+{_UNIT}s?\b(?!['’]?\s+time)", _coming, *_UNITS),
    Rule.of(rf"\b{_VAGUE}\s+{_UNIT}s?\s+(?:ago|back)\b", _vague, "ago", "back"),
    Rule.of(
        rf"\b(?:in|over|during|for|within)\s+(?P<mention>the\s+(?:last|past)\s+"
        rf"(?:(?:{NUMBER})\s+)?{_UNIT}s?)\b",
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
