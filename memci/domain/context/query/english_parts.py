"""Parts of years, months and weeks: "early May", "the second half of 2022" (R10)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from memci.domain.context.query.english_times import OF_YEAR, YEAR, month_in, within
from memci.domain.time import spans
from memci.domain.time.absolute import MONTH, MONTH_WORDS
from memci.domain.time.mention import Granularity, Reading, unsure
from memci.domain.time.rule import Rule

# The first and last months of parts of a year, days of a month, and days of a week (from 0).
_MONTHS = {"early": (1, 4), "mid": (5, 8), "late": (9, 12), "first": (1, 6), "second": (7, 12)}
_DAYS = {"early": (1, 10), "mid": (11, 20), "late": (21, 31), "first": (1, 15), "second": (16, 31)}
_WEEKDAYS = {"early": (0, 1), "mid": (2, 3), "late": (4, 6), "first": (0, 2), "second": (3, 6)}
_STEPS = {"last": -1, "this": 0, "next": 1}


def _parts(early: str, late: str) -> str:
    """Return what names a part, by groups of the names above."""
    return (
        rf"(?:(?P<early>{early})|(?P<mid>mid(?:dle\s+of)?)|(?P<late>{late})"
        r"|(?P<first>first\s+half\s+of)|(?P<second>(?:second|latter|last)\s+half\s+of))[\s-]+"
    )


_PART_OF = _parts(r"(?:beginning|start)\s+of", r"end\s+of")
_PART = _parts(r"early|(?:beginning|start)\s+of", r"late|end\s+of")


def _part(match: re.Match[str], whole: Reading) -> Reading:
    name, monday = next(name for name in _DAYS if match[name]), whole.first
    if whole.granularity is Granularity.MONTH:
        return unsure(within(whole, *_DAYS[name]))
    if whole.granularity is Granularity.WEEK:
        first, last = _WEEKDAYS[name]
        return unsure(spans.period(monday + timedelta(first), monday + timedelta(last)))
    first, last = _MONTHS[name]
    months = (spans.month_of(whole.first.year, month) for month in (first, last))
    return unsure(spans.period(next(months).first, next(months).last))


def _of_month(match: re.Match[str], said: date) -> Reading:
    month = month_in(match, said)
    return replace(_part(match, month), yearless=month.yearless)


def _of_year(match: re.Match[str], _said: date) -> Reading:
    return _part(match, spans.year_of(int(match["year"])))


def _of_which(match: re.Match[str], said: date) -> Reading:
    """Read "the end of last month", "the start of the year"."""
    step = _STEPS[(match["which"] or "this").lower()]
    around = {"year": spans.year, "month": spans.month, "week": spans.week}
    return _part(match, around[(match["unit"] or "year").lower()](said, step))


RULES = (
    Rule.of(rf"\b{_PART}(?:the\s+month\s+of\s+)?(?P<m>{MONTH}){OF_YEAR}?(?!\s+\d)", _of_month,
            *MONTH_WORDS),
    Rule.of(rf"\b{_PART}{YEAR}", _of_year, "19", "20"),
    # "The end of the month" may be of any, as "in the morning" is: rents are due then.
    Rule.of(rf"\b{_PART}(?P<which>last|this|next)\s+(?P<unit>year)\b", _of_which, "year"),
    # "Was I late this week?" asks of all of it.
    Rule.of(rf"\b{_PART_OF}(?:(?P<which>last|this|next)\s+(?P<unit>year|month|week)|the\s+year)\b",
            _of_which, "year", "month", "week"),
)  # fmt: skip
