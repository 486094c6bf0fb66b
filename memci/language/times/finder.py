"""Expressions of time in a text, and the days that they mean (R4, R10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from memci.language.detection import Language
from memci.language.times import absolute_dates, chinese, english
from memci.language.times import chinese as chinese_doubts
from memci.language.times import english as english_doubts
from memci.language.times import rules as surroundings
from memci.language.times.rules import Reading, Rule, TimeMention, readings

# Between midnight and four, "today" may be the day that has just ended. Exactly midnight is what
# producers write who know the day only.
_SMALL_HOURS = 4
_DAYS = ("today", "tonight", "tomorrow", "yesterday", "this ", "今", "明", "昨天", "昨日")

_Doubtful = Callable[[str, int, int, Reading], bool]
_RULES: tuple[tuple[Iterable[Rule], Language, _Doubtful], ...] = (
    (absolute_dates.RULES, Language.ENGLISH, absolute_dates.comes_again),
    (english.RULES, Language.ENGLISH, english_doubts.doubtful),
    (chinese.DATES, Language.CHINESE, absolute_dates.comes_again),
    (chinese.RULES, Language.CHINESE, chinese_doubts.doubtful),
)


def find_times(text: str, said_at: datetime) -> list[TimeMention]:
    """Return the expressions of time in ``text``, in order; none overlaps another.

    English and Chinese are both looked for. The day is that of ``said_at`` in its own offset from
    UTC: pass the speaker's local time where it is known. Code, addresses and lines quoted
    with ``>`` are passed over; what stands in quotation marks is never certain.
    """
    candidates = sorted(_candidates(text, said_at), key=lambda each: (each.start, -each.end))
    if not candidates:
        return []
    untouched, quoted = surroundings.untouched(text), surroundings.quoted(text)
    found: list[TimeMention] = []
    for mention in candidates:
        place = mention.start, mention.end
        if (found and mention.start < found[-1].end) or untouched.touches(*place):
            continue
        sure = mention.certain and (mention.reading.whole or not quoted.touches(*place))
        found.append(replace(mention, reading=replace(mention.reading, certain=sure)))
    return _alike(text, found)


def _alike(text: str, found: list[TimeMention]) -> list[TimeMention]:
    """Let days without a year be certain together or not at all: "moved from May 8 to May 20"."""
    doubted: set[int] = set()
    group: list[int] = []
    for at, mention in enumerate(found):
        if not mention.reading.yearless:
            continue
        if group and surroundings.ends_sentence(text, found[group[-1]].end, mention.start):
            group = []
        group.append(at)
        if not all(found[each].certain for each in group):
            doubted.update(group)
    return [
        replace(each, reading=replace(each.reading, certain=False)) if at in doubted else each
        for at, each in enumerate(found)
    ]


def _candidates(text: str, said_at: datetime) -> Iterator[TimeMention]:
    said, small_hours = said_at.date(), _in_small_hours(said_at)
    for rules, language, doubtful in _RULES:
        for start, end, reading in readings(rules, text, said):
            certain = reading.certain and (
                reading.whole
                or not (
                    doubtful(text, start, end, reading)
                    or (small_hours and text[start:end].lower().startswith(_DAYS))
                )
            )
            yield TimeMention(
                start, end, text[start:end], language, replace(reading, certain=certain)
            )


def _in_small_hours(said_at: datetime) -> bool:
    exactly_midnight = not (said_at.hour or said_at.minute or said_at.second)
    return said_at.hour < _SMALL_HOURS and not exactly_midnight
