"""Dates: written out with or without a year, weekdays, and days of a month that is not named.

For example "2023-05-08", "May 8", "two Fridays ago", "Wednesday the 11th", 11号 (R10).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from memci.language.times import calendar
from memci.language.times.calendar import (
    CHINESE_STEPS,
    CHINESE_WEEKDAYS,
    DAYS_A_WEEK,
    STEPS,
    WEEKDAYS,
    ZH_NUMBER,
    chinese_number,
)
from memci.language.times.ranges import TimeExpression
from memci.language.times.rules import Granularity, Reading, Rule, as_guess, sentence_around

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


def is_recurring(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Return True if a day and month may be of every year: "her birthday is on May 5"."""
    return bool(_YEARLY.search(sentence_around(text, start, end)))


def contradicts_tense(sentence: str, *, ahead: bool) -> bool:
    """Return True if the tense of a sentence is past and the day is ``ahead``, or the reverse."""
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
    return nearest_day(
        said, month, _number(match["d"]), sentence_around(match.string, *match.span())
    )


def nearest_day(said: date, month: int, day: int, sentence: str) -> Reading | None:
    """Return the nearest date of that month and day; certain only when it is near.

    ``sentence``: the sentence around it, in lower case.
    """
    dates = [
        each
        for year in range(said.year - 4, said.year + 5)
        if (each := calendar.existing_date(year, month, day))
    ]
    if not dates:
        return None
    found = min(dates, key=lambda each: abs(each - said))
    far = abs((found - said).days)
    sure = far <= _NEAR_DAYS or (
        far <= _QUARTER and not contradicts_tense(sentence, ahead=found > said)
    )
    return replace(calendar.day(found, 0), certain=sure, yearless=True)


def _month_of_year(match: re.Match[str], _said: date) -> Reading:
    return _whole(calendar.month_of(int(match["year"]), month_number(match["m"])))


def _year(match: re.Match[str], _said: date) -> Reading:
    return _whole(calendar.year_of(int(match["year"])))


def _date_range(match: re.Match[str], _said: date) -> Reading | None:
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
DATE_RULES = (
    Rule.of(rf"(?P<d1>{_DAY})(?:\s+(?P<m1>{MONTH})(?:,?\s+(?P<y1>\d{{4}}))?)?{_TO}"
            rf"(?P<d2>\d{{1,2}})\s+(?P<m>{MONTH}),?\s+(?P<year>\d{{4}})(?!\d)",
            _date_range, *MONTH_WORDS),
    Rule.of(rf"\b(?P<m>{MONTH})\s+(?P<d1>\d{{1,2}}){_TO}(?P<d2>\d{{1,2}}){_YEAR}",
            _date_range, *MONTH_WORDS),
    Rule.of(r"(?<![\w./-])(?P<year>\d{4})([-/.])(?P<m>0?[1-9]|1[0-2])\2(?P<d>[0-2]?\d|3[01])(?![\w-])",
            _iso, *"-/."),
    Rule.of(rf"(?P<d>{_DAY})\s+(?:of\s+)?(?P<m>{MONTH}){_YEAR}", _date, *MONTH_WORDS),
    Rule.of(rf"\b(?P<m>{MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}}(?:st|nd|rd|th)?){_YEAR}",
            _date, *MONTH_WORDS),
    Rule.of(
        rf"(?P<d>{_DAY})\s+(?:of\s+)?(?=(?-i:[A-Z]))(?P<m>{MONTH}){_ALONE}", _date, *MONTH_WORDS
    ),
    Rule.of(rf"\b(?=(?-i:[A-Z]))(?P<m>{MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}}(?:st|nd|rd|th)?){_ALONE}"
            r"(?!\s*%|\.\d|,\d{3})", _date, *MONTH_WORDS),
    Rule.of(rf"\b(?:(?=(?-i:[A-Z]))|(?<=in )|(?<=since ))(?P<m>{MONTH}){_YEAR}",
            _month_of_year, *MONTH_WORDS),
    Rule.of(r"\b(?:in|since|of|by|until|till|from|during|before|after|year|back in)\s+"
            r"(?P<mention>(?P<year>(?:19|20)\d\d))(?![\w%:/-]|[.,]\d)(?!\s+(?!was\b|is\b|has\b)[a-z]+s\b)",
            _year, "19", "20"),
)  # fmt: skip


# Short forms are words as well ("who sat 2nd"): they count beside a date alone.
ENGLISH_WORD = r"(?P<w>mon|tues|wednes|thurs|fri|satur|sun)day"
CHINESE_WORD = "(?:星期|礼拜|周)(?P<w>[一二三四五六日天])"
# What follows a day, and neither a floor nor a try: "on the 11th floor".
DAY_ENDS = (
    r"(?=\s*(?:[?.!,;:]|$)|\s+(?:i|we|you|he|she|they|did|was|were|what|which|who|when|where"
    r"|in\s+the\s+(?:morning|afternoon|evening))\b)"
)
# "The Friday before last week" is no day of two weeks ago.
_NO_UNIT = (
    r"(?!\s+(?:week(?:end)?|month|year|night|\w+day|christmas|xmas|easter|thanksgiving|term|season"
    r"|semester|spring|summer|autumn|fall|winter)s?\b)"
)
_SHORT = r"(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\.?"
_ENGLISH_ONE = re.compile(
    rf"(?:(?:last|this|next|on)\s+)?(?:{ENGLISH_WORD}|{_SHORT})", re.IGNORECASE
)
_CHINESE_ONE = re.compile(f"[上下本这个]*{CHINESE_WORD}")
_BARE = (re.compile(rf"(?:on\s+)?{ENGLISH_WORD}", re.IGNORECASE), re.compile(CHINESE_WORD))
_BESIDE = re.compile(r"[\s,，、(（]*(?:the\s+)?", re.IGNORECASE)
_A_DAY = timedelta(hours=26)  # with a change of the clocks


def _index(match: re.Match[str]) -> int:
    """Return which weekday the group ``w`` names, 0 (Monday) to 6 (Sunday)."""
    word = match["w"].lower().replace("天", "日")
    if word in CHINESE_WEEKDAYS:
        return CHINESE_WEEKDAYS.index(word)
    return next(index for index, name in enumerate(WEEKDAYS) if name.startswith(word))


def _weeks_ago(said: date, index: int, weeks: int) -> Reading:
    """Return the latest such weekday before today, or so many weeks earlier."""
    back = (said.weekday() - index - 1) % DAYS_A_WEEK + 1
    return calendar.day(said, -back - DAYS_A_WEEK * weeks)


def _before_last(match: re.Match[str], said: date) -> Reading:
    return _weeks_ago(said, _index(match), 1)


def _so_many_ago(match: re.Match[str], said: date) -> Reading:
    return _weeks_ago(said, _index(match), calendar.english_number(match["n"]) - 1)


def _of_a_week_ago(match: re.Match[str], said: date) -> Reading:
    return calendar.weekday(said, -calendar.chinese_number(match["n"]), _index(match))


WEEKDAY_RULES = (
    Rule.of(rf"\b(?:the\s+)?{ENGLISH_WORD}\s+before\s+last\b{_NO_UNIT}", _before_last, "before"),
    Rule.of(rf"{calendar.EN_NUMBER}\s+{ENGLISH_WORD}s?\s+ago\b", _so_many_ago, "ago"),
    Rule.of(f"(?P<n>{calendar.ZH_NUMBER})个?(?:星期|礼拜|周)(?:之|以)?前的?{CHINESE_WORD}",
            _of_a_week_ago, "前"),
)  # fmt: skip


def is_weekday(text: str, expression: TimeExpression) -> bool:
    """Return True if a time is named by a day of the week alone or with "last", "on" …."""
    place = expression.start, expression.end
    return any(each.fullmatch(text, *place) for each in (_ENGLISH_ONE, _CHINESE_ONE))


def is_bare_weekday(text: str, expression: TimeExpression) -> bool:
    """Return True if a time is named by a day of the week alone, and by no week."""
    return any(each.fullmatch(text, expression.start, expression.end) for each in _BARE)


def merge_weekdays(text: str, expressions: Sequence[TimeExpression]) -> list[TimeExpression]:
    """Return times where a weekday beside a date is a part of that date.

    So "Wednesday, 11 November" is one day, whatever day of the week that was.
    """
    joined: list[TimeExpression] = []
    for each in expressions:
        last = joined[-1] if joined else None
        if last and _is_dated(text, last, each):
            day = each if is_weekday(text, last) else last
            joined[-1] = replace(day, start=last.start, end=each.end)
        else:
            joined.append(each)
    return joined


def _is_dated(text: str, first: TimeExpression, last: TimeExpression) -> bool:
    """Return True if one is the weekday of the other, which is a date."""
    if not _BESIDE.fullmatch(text, first.end, last.start):
        return False
    weekdays = is_weekday(text, first), is_weekday(text, last)
    return weekdays in {(True, False), (False, True)} and _is_day(first) and _is_day(last)


def _is_day(expression: TimeExpression) -> bool:
    since, until = expression.time.since, expression.time.until
    return since is not None and until is not None and until - since <= _A_DAY


# A day of the month falls on each weekday at least once within so many months around.
_MONTHS_AROUND = 14
_AHEAD = 3  # questions are seldom about what is far ahead
_STEPS = STEPS | CHINESE_STEPS
_NTH = r"(?P<d>\d{1,2})(?:st|nd|rd|th)"
_BEFORE = r"\b(?:on|since|until|till|by|before|after|from|around)\s+"
# Of a list (四月三号和五号) and of a count (廿一号) it is a part.
_CHINESE_DAY = (
    f"(?<![\\d年月第路之上下零〇一二三四五六七八九十廿卅和与及到至、,，坐是])(?P<d>{ZH_NUMBER})号"
)
_CHINESE_DAY_ENDS = (
    "(?=[那当]天|的?时候|早上|上午|中午|下午|晚上|凌晨|之[前后]|以[前后]|[我你他她它们]|大家|发生)"
)
_CHINESE_SPAN_ENDS = (
    "(?=之间|期间|[这那]几天|的?时候|[我你您他她它]|咱|大家|发生|去|在|有|都|的(?:会议|行程|安排|事|计划)"
    "|[\\s,，。？！?!]|$)"
)
_UNTIL = "(?:to|and|until|till|through)"
# Of these the first and the second are no days.
_RANKED = re.compile(
    r"\b(?:differences?|compared?|better|worse|rather|choose|choice|which\s+(?:one|of)|rank\w*"
    r"|places?|scores?|who\s+got)\b",
    re.IGNORECASE,
)
# Where a month is named, the day is of that month.
_A_MONTH = re.compile(rf"\b{MONTH}\b|月", re.IGNORECASE)


def _of_month(year: int, month: int, day: int) -> date | None:
    return calendar.existing_date(year + (month - 1) // 12, (month - 1) % 12 + 1, day)


def _around(said: date, day: int) -> list[date]:
    """Return this day of the months around, nearest first; days to come count as further away."""
    months = range(said.month - _MONTHS_AROUND, said.month + _MONTHS_AROUND + 1)
    found = [each for month in months if (each := _of_month(said.year, month, day))]
    return sorted(found, key=lambda each: said - each if each <= said else _AHEAD * (each - said))


def _nearest(said: date, day: int, weekday: int) -> Reading | None:
    """Return the nearest day of a month with this number and weekday."""
    found = next((each for each in _around(said, day) if each.weekday() == weekday), None)
    return None if found is None else calendar.day(found, 0)


def _latest(text: str, said: date, day: int) -> Reading | None:
    """Return the latest day with this number, unless the text names a month."""
    if _A_MONTH.search(text):
        return None
    found = next((each for each in _around(said, day) if each <= said), None)
    return None if found is None else as_guess(calendar.day(found, 0))


def _of_weekday(match: re.Match[str], said: date) -> Reading | None:
    return _nearest(said, chinese_number(match["d"]), _index(match))


def _alone(match: re.Match[str], said: date) -> Reading | None:
    return _latest(match.string, said, chinese_number(match["d"]))


def _between(text: str, said: date, days: tuple[int, int]) -> Reading | None:
    """Return the latest days between these numbers, unless the text names a month."""
    last = _latest(text, said, days[1])
    if last is None:
        return None
    months = (last.first.month, last.first.month - 1)
    begun = (_of_month(last.first.year, month, days[0]) for month in months)
    first = next((each for each in begun if each and each < last.first), None)
    return as_guess(calendar.period(first, last.last)) if first else None


def _from_to(match: re.Match[str], said: date) -> Reading | None:
    if _RANKED.search(match.string):
        return None
    return _between(match.string, said, (chinese_number(match["d1"]), chinese_number(match["d"])))


def _from_to_of(match: re.Match[str], said: date) -> Reading | None:
    """Read "from the 3rd to the 5th of last month", 上个月3号到5号."""
    month = said.month + _STEPS[match["whose"].lower()]
    first, last = (_of_month(said.year, month, chinese_number(match[d])) for d in ("d1", "d"))
    return calendar.period(first, last) if first and last and first <= last else None


def _of_that_month(match: re.Match[str], said: date) -> Reading | None:
    found = _of_month(said.year, said.month + _STEPS[match["whose"].lower()], int(match["d"]))
    return None if found is None else calendar.day(found, 0)


MONTH_DAY_RULES = (
    Rule.of(rf"\b{ENGLISH_WORD},?\s+(?:the\s+)?{_NTH}\b(?:{DAY_ENDS}|(?=\s+{_UNTIL}\b))",
            _of_weekday, "th", "st", "nd", "rd"),
    Rule.of(rf"\bthe\s+{_NTH}\s+of\s+(?P<whose>last|this|next)\s+month\b", _of_that_month,
            "month"),
    Rule.of(rf"{_BEFORE}(?P<mention>the\s+{_NTH})\b{DAY_ENDS}", _alone, "the"),
    Rule.of(rf"\b(?:from|between)\s+(?P<mention>the\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)\s+"
            rf"{_UNTIL}\s+(?:the\s+)?{_NTH})\b{DAY_ENDS}", _from_to, "the"),
    Rule.of(rf"\b(?:from|between)\s+(?P<mention>the\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)\s+{_UNTIL}\s+"
            rf"(?:the\s+)?{_NTH}\s+of\s+(?P<whose>last|this|next)\s+month)\b",
            _from_to_of, "month"),
    Rule.of(f"(?<![\\d年月第路零〇一二三四五六七八九十廿卅和与及、])(?P<d1>{ZH_NUMBER})[号日]?(?:至|到|[-–—~～])"
            f"(?P<d>{ZH_NUMBER})号{_CHINESE_SPAN_ENDS}", _from_to, "号"),
    Rule.of(f"(?P<whose>上上|上|这|本|下)个?月(?P<d1>{ZH_NUMBER})[日号]?(?:至|到|[-–—~～])"
            f"(?P<d>{ZH_NUMBER})[日号]", _from_to_of, "月"),
    Rule.of(f"{CHINESE_WORD}\\s?(?P<d>{ZH_NUMBER})[号日]{_CHINESE_DAY_ENDS}", _of_weekday,
            "号", "日"),
    Rule.of(rf"{_CHINESE_DAY}[\s,，]?[(（]?{CHINESE_WORD}[)）]?", _of_weekday, "号"),
    Rule.of(f"{_CHINESE_DAY}{_CHINESE_DAY_ENDS}", _alone, "号"),
)  # fmt: skip
