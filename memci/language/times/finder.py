"""Expressions of time in a text, and the days that they mean (R4, R10).

When something was, said from the day on which it was told: "yesterday", "下周六".

Without the date that stands beside it in brackets such a word tells nothing later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from memci.language.detection import Language
from memci.language.times import chinese, dates, english, rules
from memci.language.times.rules import Reading, Rule, TimeMention, readings

# Between midnight and four, "today" may be the day that has just ended. Exactly midnight is what
# producers write who know the day only.
_SMALL_HOURS = 4
_DAYS = ("today", "tonight", "tomorrow", "yesterday", "this ", "今", "明", "昨天", "昨日")

_Doubtful = Callable[[str, int, int, Reading], bool]
_RULES: tuple[tuple[Iterable[Rule], Language, _Doubtful], ...] = (
    (dates.DATE_RULES, Language.ENGLISH, dates.comes_again),
    (english.RELATIVE_RULES, Language.ENGLISH, english.doubtful),
    (chinese.DATE_RULES, Language.CHINESE, dates.comes_again),
    (chinese.RELATIVE_RULES, Language.CHINESE, chinese.doubtful),
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
    untouched, quoted = rules.untouched(text), rules.quoted(text)
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
        if group and rules.ends_sentence(text, found[group[-1]].end, mention.start):
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
    for group, language, doubtful in _RULES:
        for start, end, reading in readings(group, text, said):
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


_DAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_PERIOD = f"week|weekend|month|year|spring|summer|autumn|fall|winter|{_DAY}"
_PART = "morning|afternoon|evening|night"
_CHINESE = (
    "大?[前后]天|[昨今明][天晚早日]|(?:上|下|这|本)+个?(?:周|星期|礼拜)(?:[一二三四五六日天末])?|"
    "(?:周|星期|礼拜)[一二三四五六日天末]|(?:上|下|这|本)+个?月|[去今明后前]年[春夏秋冬]?[天季]?|"
    "[一二两三四五六七八九十几\\d]+(?:天|周|个?星期|个?月|年)[前后]|月底|年底|周末"
)
_ENGLISH = (
    rf"\b(?:the day (?:before yesterday|after tomorrow)|yesterday|today|tonight|tomorrow|"
    rf"(?:last|next|this|coming) (?:{_PERIOD}|{_PART})|(?:a|an|one|two|three|four|five|six|\d+) "
    rf"(?:day|week|month|year)s? ago|in (?:a|one|two|three|\d+) (?:day|week|month|year)s?|"
    rf"(?:{_DAY})s?)"
    rf"(?: (?:{_PART}))?\b"
)
_MOMENT = rf"(?:{_ENGLISH}|{_CHINESE})"
RELATIVE = re.compile(_MOMENT, re.IGNORECASE)
_NOTE = re.compile(r"\s?[(（][^()（）\n]*\d{4}[^()（）\n]*[)）]")
_BEFORE_NOTE = re.compile(rf"{_MOMENT}[上下晚早中]?[午上晨]?$", re.IGNORECASE)
_LOOK_BACK = 24
_ABSOLUTE = re.compile(
    r"(?:\d+|[〇零一二三四五六七八九十两半]+)(?:年|月|日|号|点半?|时|分)|"
    r"\d+(?:st|nd|rd|th|\s?[ap]m)?\b|\d+|[至到天周]|个月|小时|分钟|"
    r"\b(?:(?:jan|febr)(?:uary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|to|at|on|by|every|"
    r"days?|weeks?|months?|years?|hours?|minutes?|mins?|"
    r"(?:sept?|octo?|nov|dec)(?:em)?(?:ber)?)\b",
    re.IGNORECASE,
)

Span = tuple[int, int]


def dated_moments(text: str) -> list[Span]:
    """Return (start, end) of each such moment with its note: "yesterday (2026-03-07)"."""
    if "(" not in text and "（" not in text:
        return []
    found = []
    for note in _NOTE.finditer(text):
        before = text[max(0, note.start() - _LOOK_BACK) : note.start()]
        match = _BEFORE_NOTE.search(before)
        if match:
            found.append((note.start() - len(before) + match.start(), note.end()))
    return found


def tells_only_when(text: str) -> bool:
    """Say whether nothing but times, dates and bare numbers is in a part."""
    return not any(each.isalnum() for each in _ABSOLUTE.sub("", RELATIVE.sub("", text)))


def is_moment(text: str) -> bool:
    """Say whether a word or a part tells only when: "yesterday (2026-03-07)", "下周"."""
    return not any(each.isalnum() for each in RELATIVE.sub("", _NOTE.sub("", text)))
