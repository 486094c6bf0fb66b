"""When something was, said from the day on which it was told: "yesterday", "下周六".

Without the date that stands beside it in brackets such a word tells nothing later.
"""

from __future__ import annotations

import re

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
