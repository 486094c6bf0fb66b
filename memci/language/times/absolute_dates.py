"""When a date without its year is of no year in particular.

Dates that are written out: wholly, or without their year.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from memci.language.times import calendar
from memci.language.times.rules import Granularity, Reading, Rule, sentence_around

_YEARLY = re.compile(
    r"\b(?:birthdays?|anniversar\w+|born|holidays?|every|each|annual\w*|always|usually|yearly"
    r"|in\s+(?:1\d|20)\d\d)\b|生日|纪念日|出生|每年|节日|[节年]庆"
)
_OVER = re.compile(
    r"\b(?:was|were|did|had|got|went|met|came|saw|bought|took|made|gave|began|left|\w{2,}ed)\b|"
    r"[了过]|当时|那天|曾"
)
_TO_COME = re.compile(
    r"\b(?:will|shall|is|are|am|going to|due|until|till|moved|changed|pushed|postponed|rescheduled|"
    r"booked|scheduled|planned|delayed|extended|set|starts?|begins?|opens?)\b|['’](?:ll|m|re)\b|"
    r"[改定订推延约将会要]|提前|准备|打算|计划|开始"
)


def comes_again(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Tell whether a day and month may be of every year: "her birthday is on May 5"."""
    return bool(_YEARLY.search(sentence_around(text, start, end)))


def told_otherwise(sentence: str, *, ahead: bool) -> bool:
    """Tell whether a sentence is of the past and the day ``ahead``, or the other way round."""
    over, to_come = bool(_OVER.search(sentence)), bool(_TO_COME.search(sentence))
    return over and not to_come if ahead else to_come and not over


MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b(?:\.(?=,?\s*\d))?"
)
MONTH_WORDS = tuple(month[:3] for month in MONTHS)
# A date without its year is certain only this near: "on July 20", said on 9 July; and within a
# quarter where nothing told beside it speaks for another year, which is three times as far.
_NEAR_DAYS = 31
_QUARTER = 92

_DAY = r"(?<![\w.,/:$€£–—-])\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?:of\s+)?|,)(?P<year>\d{4})(?!\d)"
_ALONE = r"(?!\s?[-–—/:]\s?\d)(?!\d)"


def month_number(name: str) -> int:
    """Return 1 to 12 for an English month's name or abbreviation."""
    short = name.lower()[:3]
    return next(i for i, month in enumerate(MONTHS, 1) if month.startswith(short))


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _whole(reading: Reading) -> Reading:
    return replace(reading, whole=True)


def _date(match: re.Match[str], said: date) -> Reading | None:
    year = match["year"] if "year" in match.re.groupindex else None
    number = match["m"]
    month = int(number) if number.isdecimal() else month_number(number)
    if year is not None:
        return _whole(calendar.day(date(int(year), month, _number(match["d"])), 0))
    return nearest(said, month, _number(match["d"]), sentence_around(match.string, *match.span()))


def nearest(said: date, month: int, day: int, sentence: str) -> Reading | None:
    """Return the day of that month and day that is nearest; certain only when it is near.

    ``sentence``: what it is told in, in lower case.
    """
    dates = [
        date(year, month, day)
        for year in range(max(1, said.year - 4), min(9999, said.year + 4) + 1)
        if _exists(year, month, day)
    ]
    if not dates:
        return None
    found = min(dates, key=lambda each: abs(each - said))
    far = abs((found - said).days)
    sure = far <= _NEAR_DAYS or (
        far <= _QUARTER and not told_otherwise(sentence, ahead=found > said)
    )
    return replace(calendar.day(found, 0), certain=sure, yearless=True)


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _month_of_year(match: re.Match[str], _said: date) -> Reading:
    return _whole(calendar.month_of(int(match["year"]), month_number(match["m"])))


def _year(match: re.Match[str], _said: date) -> Reading:
    return _whole(calendar.year_of(int(match["year"])))


def _days(match: re.Match[str], _said: date) -> Reading | None:
    """Read "29 May–4 June 2023", "1–7 May 2023", "May 5-6, 2023"."""
    parts = match.groupdict()
    year, month = int(match["year"]), month_number(match["m"])
    last = date(year, month, _number(match["d2"]))
    first_month = month_number(parts.get("m1") or match["m"])
    first = date(int(parts.get("y1") or year), first_month, _number(match["d1"]))
    return _whole(calendar.period(first, last)) if first <= last else None


def _iso(match: re.Match[str], _said: date) -> Reading:
    found = date(int(match["year"]), int(match["m"]), int(match["d"]))
    return _whole(Reading(found, found, Granularity.DAY))


_TO = r"\s?[-–—]\s?"
RULES = (
    Rule.of(
        rf"(?P<d1>{_DAY})(?:\s+(?P<m1>{MONTH})(?:,?\s+(?P<y1>\d{{4}}))?)?{_TO}"
        rf"(?P<d2>\d{{1,2}})\s+(?P<m>{MONTH}),?\s+(?P<year>\d{{4}})(?!\d)",
        _days,
        *MONTH_WORDS,
    ),
    Rule.of(
        rf"\b(?P<m>{MONTH})\s+(?P<d1>\d{{1,2}}){_TO}(?P<d2>\d{{1,2}}){_YEAR}", _days, *MONTH_WORDS
    ),
    Rule.of(
        r"(?<![\w./-])(?P<year>\d{4})([-/.])(?P<m>0?[1-9]|1[0-2])\2(?P<d>[0-2]?\d|3[01])(?![\w-])",
        _iso,
        *"-/.",
    ),
    Rule.of(rf"(?P<d>{_DAY})\s+(?:of\s+)?(?P<m>{MONTH}){_YEAR}", _date, *MONTH_WORDS),
    Rule.of(
        rf"\b(?P<m>{MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}}(?:st|nd|rd|th)?){_YEAR}",
        _date,
        *MONTH_WORDS,
    ),
    Rule.of(
        rf"(?P<d>{_DAY})\s+(?:of\s+)?(?=(?-i:[A-Z]))(?P<m>{MONTH}){_ALONE}", _date, *MONTH_WORDS
    ),
    Rule.of(
        rf"\b(?=(?-i:[A-Z]))(?P<m>{MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}}(?:st|nd|rd|th)?){_ALONE}"
        r"(?!\s*%|\.\d|,\d{3})",
        _date,
        *MONTH_WORDS,
    ),
    Rule.of(
        rf"\b(?:(?=(?-i:[A-Z]))|(?<=in )|(?<=since ))(?P<m>{MONTH}){_YEAR}",
        _month_of_year,
        *MONTH_WORDS,
    ),
    Rule.of(
        r"\b(?:in|since|of|by|until|till|from|during|before|after|year|back in)\s+"
        r"(?P<mention>(?P<year>(?:19|20)\d\d))(?![\w%:/-]|[.,]\d)(?!\s+(?!was\b|is\b|has\b)[a-z]+s\b)",
        _year,
        "19",
        "20",
    ),
)
