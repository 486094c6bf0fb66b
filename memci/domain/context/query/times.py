"""The times that a question names (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from itertools import islice

from memci.domain.context.query import (
    chinese_times,
    english_parts,
    english_times,
    holidays,
    month_days,
    weekdays,
)
from memci.domain.context.query.clock import clock_moments
from memci.domain.context.query.connections import connected
from memci.domain.context.query.figures import figure_moments
from memci.domain.context.query.moment import Moment, apart
from memci.domain.context.query.time_range import range_of
from memci.domain.time import find_times, surroundings
from memci.domain.time.absolute import MONTH
from memci.domain.time.chinese_numbers import NUMBER
from memci.domain.time.mention import Reading
from memci.domain.time.rule import readings
from memci.domain.time.spans import day as days_later

_RULES = (
    *month_days.RULES,
    *weekdays.RULES,
    *english_parts.RULES,
    *english_times.RULES,
    *chinese_times.RULES,
    *holidays.RULES,
)
# A month alone: "in May", 五月.
_BARE_MONTH = re.compile(rf"{MONTH}|{NUMBER}月份?", re.IGNORECASE)
# "Every Monday" and 每年五月 name no day.
_EVERY = re.compile(r"\b(?:every|each)\s+\Z|每(?:个|逢|到)?\Z", re.IGNORECASE)
_LOOK_BACK = 24
# A question that names more is none.
_MOST = 32
_LATELY = re.compile(r"recently|lately|of\s+late|最近", re.IGNORECASE)
_TOLD = re.compile(
    r"\bas\s+(?:mentioned|told|said|stated|shared|described|discussed|of)\s+(?:(?:on|in|at)\s+)?\Z",
    re.IGNORECASE,
)


def moments_of(text: str, now: datetime) -> list[Moment]:
    """Return the expressions of time in a question asked at ``now`` (aware), in order.

    Days begin at midnight in the time zone of ``now``. A date without a year is the latest one.
    """
    found = _moments(text, now)
    for each in found:
        # "What did she do last week, as told on 6 November?" is asked from then.
        if _TOLD.search(text[max(0, each.start - _LOOK_BACK) : each.start]) and each.time.since:
            then = _moments(text, each.time.since)
            # "Recently" is that day itself.
            return [one for one in then if not _LATELY.match(text, one.start, one.end)]
    return found


def _moments(text: str, now: datetime) -> list[Moment]:
    untouched = surroundings.untouched(text)
    found = apart(
        each
        for each in (*_found(text, now), *figure_moments(text, now), *clock_moments(text, now))
        if not untouched.touches(each.start, each.end)
    )
    found = weekdays.with_weekdays(text, found)
    return [each for each in connected(text, found[:_MOST]) if not _every(text, each)]


def _found(text: str, now: datetime) -> Iterator[Moment]:
    zone, today = now.tzinfo, now.date()
    for mention in find_times(text, now)[:_MOST]:
        reading, yearly = _asked(mention.reading, mention.text, today)
        yield Moment(mention.start, mention.end, (range_of(reading, zone, yearly=yearly),))
    for start, end, reading in islice(readings(_RULES, text, today), _MOST):
        yield Moment(start, end, (range_of(reading, zone, yearly=reading.yearless),))


def _asked(reading: Reading, words: str, today: date) -> tuple[Reading, bool]:
    """Return what a mention means in a question, and whether it may be of any year."""
    if reading.yearless:
        if reading.first > today:
            month, day = reading.first.month, reading.first.day
            try:
                return english_times.latest_day(today, month, day), True
            except ValueError:
                return days_later(reading.first, 0), True
        return reading, True
    return reading, bool(_BARE_MONTH.fullmatch(words))


def _every(text: str, moment: Moment) -> bool:
    return bool(_EVERY.search(text[max(0, moment.start - _LOOK_BACK) : moment.start]))
