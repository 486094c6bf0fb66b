"""English times that only questions name: "early may", "in spring", "the second half of 2022".

A date is written into a message only where it is certain; a question is helped by a guess as well.
A reading without a year is the latest one (R10).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from memci.language.times import calendar
from memci.language.times.calendar import (
    DAYS_A_WEEK,
    EN_NUMBER,
    SATURDAY,
    SEASONS,
    STEPS,
    WEEKDAYS,
    english_number,
)
from memci.language.times.dates import MONTH, MONTH_WORDS, month_number
from memci.language.times.rules import Granularity, Reading, Rule, as_guess

_NTH = ("first", "second", "third", "fourth")
_MONTHS_A_QUARTER = 3
# Groups: year, whose. Nothing: the latest.
YEAR = r"(?P<year>(?:19|20)\d\d)(?![\w%]|[.,:/-]\d)"
_WHOSE = r"(?:(?:of|in)\s+)?(?P<whose>last|this|next)\s+year"
OF_YEAR = rf"(?:,?\s+(?:(?:of|in)\s+)?{YEAR}|,?\s+{_WHOSE}\b)"
_M = rf"(?P<m>{MONTH})"
# In small letters these are verbs as well.
_VERBS = "(?:mar(?:ch)?|may)"
_AROUND_WORDS = "on|since|before|after|until|till|by|from|between|around"
_FEW = 4
_LATELY = 14  # days


def english_year_in(match: re.Match[str], said: date) -> int | None:
    """Return the year that the groups ``year`` and ``whose`` name; None: none."""
    parts = match.groupdict()
    if parts.get("year"):
        return int(parts["year"])
    if parts.get("whose"):
        return said.year + STEPS[parts["whose"].lower()]
    return None


def latest_month(said: date, month: int) -> Reading:
    """Return the latest month of this number that has begun."""
    return calendar.month_of(said.year - (month > said.month), month)


def yearless(reading: Reading, year: int | None) -> Reading:
    """Mark a reading as yearless if no ``year`` was named."""
    return replace(reading, yearless=year is None, certain=reading.certain and year is not None)


def days_of_month(month: Reading, first: int, last: int) -> Reading:
    """Return days of a month; ``last`` may be beyond its end."""
    begin = month.first.replace(day=first)
    return calendar.period(begin, month.first.replace(day=min(last, month.last.day)))


def month_in(match: re.Match[str], said: date) -> Reading:
    """Return the month of the group ``m``, in the year that is named beside it."""
    number_, year = month_number(match["m"]), english_year_in(match, said)
    found = latest_month(said, number_) if year is None else calendar.month_of(year, number_)
    return yearless(found, year)


def _nth_in_month(match: re.Match[str], said: date) -> Reading:
    """Read "the second week of May", "the first Monday of June 2023"."""
    month, nth, unit = month_in(match, said), match["nth"].lower(), match["unit"].lower()
    count = next((i for i, word in enumerate(_NTH) if nth in (word, f"{i + 1}{word[-2:]}")), -1)
    if unit == "week":
        first = DAYS_A_WEEK * count + 1 if count >= 0 else month.last.day - DAYS_A_WEEK + 1
        found = days_of_month(month, first, first + DAYS_A_WEEK - 1)
        return replace(found, certain=False, yearless=month.yearless)
    index = SATURDAY if unit == "weekend" else WEEKDAYS.index(unit)
    edge = month.first if count >= 0 else month.last
    ahead = (index - edge.weekday()) % DAYS_A_WEEK
    # The last one begins at most six days before the month's end.
    steps = ahead + DAYS_A_WEEK * count if count >= 0 else (ahead or DAYS_A_WEEK) - DAYS_A_WEEK
    day = edge + timedelta(steps)
    found = calendar.period(day, day + timedelta(unit == "weekend"))
    return replace(found, yearless=month.yearless)


def _season(match: re.Match[str], said: date) -> Reading:
    name = match["season"].lower().replace("fall", "autumn")
    return season_of(said, name, english_year_in(match, said))


def season_of(said: date, name: str, year: int | None) -> Reading:
    """Return a season of a year, or the latest that has begun."""
    if year is not None:
        return calendar.season(year, name)
    this = calendar.season(said.year, name)
    found = this if this.first <= said else calendar.season(said.year - 1, name)
    return replace(found, yearless=True)


def quarter_of(said: date, count: int, year: int | None) -> Reading:
    """Return a quarter, 1 to 4, of a year, or the latest that has begun."""
    month = _MONTHS_A_QUARTER * (count - 1) + 1
    begun = said.year - (month > said.month) if year is None else year
    last = calendar.month_of(begun, month + _MONTHS_A_QUARTER - 1).last
    return yearless(calendar.period(date(begun, month, 1), last), year)


def _quarter(match: re.Match[str], said: date) -> Reading:
    count = int(match["q"]) if match["q"] else _NTH.index(match["nth"].lower()) + 1
    return quarter_of(said, count, english_year_in(match, said))


def _day_of_month(match: re.Match[str], said: date) -> Reading:
    return latest_day(said, month_number(match["m"]), int(re.sub(r"\D", "", match["d"])))


def latest_day(said: date, month: int, day: int) -> Reading:
    """Return the latest such day that is not in the future; ``ValueError`` if there is none."""
    for year in range(said.year, said.year - 8, -1):
        found = calendar.existing_date(year, month, day)
        if found and found <= said:
            return replace(calendar.day(found, 0), yearless=True)
    raise ValueError("no such day")


def _iso_month(match: re.Match[str], _said: date) -> Reading:
    return calendar.month_of(int(match["year"]), int(match["m"]))


def _iso_day(match: re.Match[str], _said: date) -> Reading:
    return calendar.day(date(int(match["year"]), int(match["m"]), int(match["d"])), 0)


def _year(match: re.Match[str], _said: date) -> Reading:
    return calendar.year_of(int(match["year"]))


def _years(match: re.Match[str], _said: date) -> Reading | None:
    first, last = int(match["y1"]), int(match["y2"])
    return calendar.period(date(first, 1, 1), date(last, 12, 31)) if first <= last else None


def _decade(match: re.Match[str], _said: date) -> Reading:
    first = int(match["decade"])
    return calendar.period(date(first, 1, 1), date(first + 9, 12, 31))


def _days_of_month(match: re.Match[str], said: date) -> Reading | None:
    """Read "from 5 to 7 May"."""
    month = month_in(match, said)
    first, last = int(match["d1"]), int(match["d2"])
    if not 1 <= first <= last <= month.last.day:
        return None
    return replace(
        days_of_month(month, first, last), yearless=month.yearless, certain=not month.yearless
    )


def _weekday(match: re.Match[str], said: date) -> Reading:
    return calendar.latest_weekday(said, WEEKDAYS.index(match["day"].lower()))


def _half(match: re.Match[str], said: date) -> Reading:
    """Read "half a year ago", "a year and a half ago", "two and a half years ago"."""
    unit = match["unit"].lower()
    count = english_number(match["n"]) if match.groupdict().get("n") else 0
    return half_ago(said, unit, count)


def half_ago(said: date, unit: str, count: int) -> Reading:
    """Return the time of so many units and a half ago; ``unit``: year, month or week."""
    if unit == "year":
        return replace(calendar.month(said, -12 * count - 6), approximate=True, certain=False)
    days = 30 * count + 15 if unit == "month" else 7 * count + 3
    middle = said - timedelta(days)
    slack = timedelta(max(1, days // 5))
    return replace(calendar.period(middle - slack, middle + slack), approximate=True, certain=False)


def _decades_ago(match: re.Match[str], said: date) -> Reading:
    return replace(calendar.year(said, -10 * english_number(match["n"])), approximate=True)


def _rolling(match: re.Match[str], said: date) -> Reading:
    step = -1 if match["side"].lower() in ("last", "past") else 1
    count = _FEW if match["few"] else english_number(match["n"])
    return replace(calendar.rolling(said, match["unit"].lower(), step * count), certain=True)


def recent_days(_match: re.Match[str], said: date) -> Reading:
    """Return the last days: "recently", 最近."""
    return as_guess(calendar.period(said - timedelta(_LATELY), said))


def _other_day(_match: re.Match[str], said: date) -> Reading:
    return as_guess(calendar.period(said - timedelta(7), said - timedelta(1)))


_UNIT = "(?P<unit>day|week|month|year)"
_DAY = r"(?<![\w.,/:$€£–—-])(?P<d>\d{1,2})"

QUESTION_RULES = (
    Rule.of(
        rf"\b(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+"
        rf"(?P<unit>week|weekend|{'|'.join(WEEKDAYS)})\s+(?:of|in)\s+{_M}{OF_YEAR}?",
        _nth_in_month, "week", *WEEKDAYS,
    ),
    Rule.of(rf"\b(?:the\s+)?(?P<season>{'|'.join(SEASONS)}){OF_YEAR}", _season, *SEASONS),
    Rule.of(
        r"\b(?:in|during|over|for|since|before|after|until|by)\s+"
        rf"(?P<mention>the\s+(?P<season>{'|'.join(SEASONS)}))\b",
        _season, *SEASONS,
    ),
    Rule.of(rf"\b(?:Q(?P<q>[1-4])|(?:the\s+)?(?P<nth>{'|'.join(_NTH)})\s+quarter)"
            rf"{OF_YEAR}", _quarter, "q"),
    Rule.of(r"\b(?:in|during|since|for)\s+(?P<mention>(?:Q(?P<q>[1-4])"
            rf"|the\s+(?P<nth>{'|'.join(_NTH)})\s+quarter))\b", _quarter, "q"),
    Rule.of(rf"\b{_M}{OF_YEAR}", month_in, *MONTH_WORDS),
    # Months that are no verbs and no names of people, wherever they stand.
    Rule.of(r"\b(?P<m>january|february|july|september|october|november|december)\b", month_in,
            *MONTH_WORDS),
    Rule.of(
        r"\b(?:in|since|until|till|by|during|before|after|of|from|between|around|late|early|mid)"
        rf"[\s-]+(?P<mention>(?!{_VERBS}\b){_M})(?!\s+\d)", month_in, *MONTH_WORDS,
    ),
    Rule.of(
        r"\b(?:in|since|until|till|during|before|after|from|between)\s+"
        rf"(?P<mention>(?P<m>{_VERBS}))\b(?!\s+(?:\d|be\b|have\b|not\b|on\b))", month_in,
        "mar", "may",
    ),
    # "From April to June": there the second one is a month as well.
    Rule.of(rf"\b(?:from|between)\s+(?:\d{{1,2}}\s+)?{MONTH}(?:,?\s+\d{{4}})?\s+(?:to|and|until|till|through)\s+(?P<mention>{_M})"
            r"(?!\s+\d)", month_in, *MONTH_WORDS),
    Rule.of(rf"{_DAY}(?:st|nd|rd|th)\s+(?:of\s+)?{_M}(?!,?\s+\d)", _day_of_month, *MONTH_WORDS),
    Rule.of(rf"\b{_M}\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)\b(?!,?\s+\d{{4}})",
            _day_of_month, *MONTH_WORDS),
    Rule.of(rf"\b(?:{_AROUND_WORDS})\s+(?P<mention>{_M}\s+(?P<d>\d{{1,2}}))(?![\w%]|[.:]\d|,?\s+\d)",
            _day_of_month, *MONTH_WORDS),
    Rule.of(rf"\b(?:{_AROUND_WORDS})\s+(?P<mention>(?P<d>\d{{1,2}})\s+{_M})(?!,?\s+\d)",
            _day_of_month, *MONTH_WORDS),
    Rule.of(rf"\b(?:from|between)\s+(?P<mention>(?:the\s+)?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+"
            rf"(?:to|and|until|till)\s+(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?"
            rf"{_M}(?:,?\s+{YEAR})?)", _days_of_month, *MONTH_WORDS),
    Rule.of(rf"\b(?:from|between)\s+(?P<mention>{_M}\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+"
            r"(?:to|and|until|till)\s+(?:the\s+)?(?P<d2>\d{1,2})(?:st|nd|rd|th)?"
            rf"(?:,?\s+{YEAR})?)(?!\w)", _days_of_month, *MONTH_WORDS),
    Rule.of(r"(?<![\w./-])(?P<year>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\w-]|[./]\d)",
            _iso_month, "-", "/"),
    Rule.of(r"(?<![\w./-])(?P<year>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?=T\d\d)", _iso_day, "-"),
    Rule.of(
        r"(?:\b(?:this|my|our|his|her|their|your|the(?!\s+\d+\s+[a-z]+s\b))|['’]s)\s+"
        r"(?P<mention>(?P<year>(?:19[5-9]|20[0-4])\d))(?![\w%:/-]|[.,]\d)",
        _year, "19", "20",
    ),
    Rule.of(r"\b(?:from|between)\s+(?P<mention>(?P<y1>(?:19|20)\d\d)\s+(?:to|and|until|till)\s+"
            r"(?P<y2>(?:19|20)\d\d))\b", _years, "19", "20"),
    Rule.of(r"(?<![\w./$€£:-])(?P<y1>(?:19|20)\d\d)\s?[-–—]\s?(?P<y2>(?:19|20)\d\d)(?![\w./:-])",
            _years, "19", "20"),
    Rule.of(r"\b(?P<decade>(?:19|20)\d0)['’]?s\b", _decade, "0s", "0'", "0’"),
    Rule.of(rf"\b(?P<day>{'|'.join(WEEKDAYS)})\b", _weekday, *WEEKDAYS),
    Rule.of(r"\bhalf\s+a\s+(?P<unit>year|month)\s+ago\b", _half, "half"),
    Rule.of(rf"{EN_NUMBER}\s+(?P<unit>year|month|week)\s+and\s+a\s+half\s+ago\b", _half, "half"),
    Rule.of(rf"{EN_NUMBER}\s+and\s+a\s+half\s+(?P<unit>year|month|week)s?\s+ago\b", _half, "half"),
    Rule.of(rf"{EN_NUMBER}\s+decades?\s+ago\b", _decades_ago, "decade"),
    Rule.of(
        rf"\b(?:the\s+|these\s+)?(?P<side>past|last|next|coming)\s+"
        rf"(?:(?P<few>few|couple\s+of|several)|{EN_NUMBER})\s+{_UNIT}s?\b(?!\s+of\b)",
        _rolling, "past", "last", "next", "coming",
    ),
    Rule.of(r"\bthe\s+other\s+day\b", _other_day, "other"),
    # What was "most recently" may be long ago.
    Rule.of(r"(?<!most\s)(?<!more\s)(?<!as\s)\b(?:recently|lately|of\s+late"
            r"|(?:these|in\s+recent|over\s+recent)\s+(?:days|weeks))\b", recent_days,
            "recent", "late", "these"),
)  # fmt: skip


# The first and last months of parts of a year, days of a month, and days of a week (from 0).
_MONTHS = {"early": (1, 4), "mid": (5, 8), "late": (9, 12), "first": (1, 6), "second": (7, 12)}
_DAYS = {"early": (1, 10), "mid": (11, 20), "late": (21, 31), "first": (1, 15), "second": (16, 31)}
_WEEKDAYS_OF_PARTS = {
    "early": (0, 1),
    "mid": (2, 3),
    "late": (4, 6),
    "first": (0, 2),
    "second": (3, 6),
}


def _parts(early: str, late: str) -> str:
    """Return a pattern whose groups are the names of the parts above."""
    return (
        rf"(?:(?P<early>{early})|(?P<mid>mid(?:dle\s+of)?)|(?P<late>{late})"
        r"|(?P<first>first\s+half\s+of)|(?P<second>(?:second|latter|last)\s+half\s+of))[\s-]+"
    )


_PART_OF = _parts(r"(?:beginning|start)\s+of", r"end\s+of")
_PART = _parts(r"early|(?:beginning|start)\s+of", r"late|end\s+of")


def _part(match: re.Match[str], whole: Reading) -> Reading:
    name, monday = next(name for name in _DAYS if match[name]), whole.first
    if whole.granularity is Granularity.MONTH:
        return as_guess(days_of_month(whole, *_DAYS[name]))
    if whole.granularity is Granularity.WEEK:
        first, last = _WEEKDAYS_OF_PARTS[name]
        return as_guess(calendar.period(monday + timedelta(first), monday + timedelta(last)))
    first, last = _MONTHS[name]
    months = (calendar.month_of(whole.first.year, month) for month in (first, last))
    return as_guess(calendar.period(next(months).first, next(months).last))


def _of_month(match: re.Match[str], said: date) -> Reading:
    month = month_in(match, said)
    return replace(_part(match, month), yearless=month.yearless)


def _of_year(match: re.Match[str], _said: date) -> Reading:
    return _part(match, calendar.year_of(int(match["year"])))


def _of_which(match: re.Match[str], said: date) -> Reading:
    """Read "the end of last month", "the start of the year"."""
    step = STEPS[(match["which"] or "this").lower()]
    around = {"year": calendar.year, "month": calendar.month, "week": calendar.week}
    return _part(match, around[(match["unit"] or "year").lower()](said, step))


PART_RULES = (
    Rule.of(rf"\b{_PART}(?:the\s+month\s+of\s+)?(?P<m>{MONTH}){OF_YEAR}?(?!\s+\d)", _of_month,
            *MONTH_WORDS),
    Rule.of(rf"\b{_PART}{YEAR}", _of_year, "19", "20"),
    # "The end of the month" may be of any, as "in the morning" is: rents are due then.
    Rule.of(rf"\b{_PART}(?P<which>last|this|next)\s+(?P<unit>year)\b", _of_which, "year"),
    # "Was I late this week?" asks of all of it.
    Rule.of(rf"\b{_PART_OF}(?:(?P<which>last|this|next)\s+(?P<unit>year|month|week)|the\s+year)\b",
            _of_which, "year", "month", "week"),
)  # fmt: skip
