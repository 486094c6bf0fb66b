"""Holidays with a date of their own, a weekday of a month, or by the Chinese New Year (R10).

Those of the moon's calendar, and Easter, have another date each year.

When feasts of the moon's calendar are: tables, for the moon keeps no short rule (R10).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum

from memci.language.times import calendar, chinese, question_english
from memci.language.times.calendar import YEAR
from memci.language.times.question_english import yearless
from memci.language.times.rules import Reading, Rule

_FIRST_YEAR = 2000


class MoonFeast(Enum):
    """The earliest day of any of these years, and the days from there, from 2000 on."""

    NEW_YEAR = (1, 20), (
        16, 4, 23, 12, 2, 20, 9, 29, 18, 6, 25, 14, 3, 21, 11, 30, 19, 8, 27, 16, 5, 23, 12, 2,
        21, 9, 28, 17, 6, 24, 14, 3, 22, 11, 30, 19, 8, 26, 15, 4, 23, 12, 2, 21, 10, 28, 17, 6,
        25, 13, 3,
    )  # fmt: skip
    DRAGON_BOATS = (5, 27), (
        10, 29, 19, 8, 26, 15, 4, 23, 12, 1, 20, 10, 27, 16, 6, 24, 13, 3, 22, 11, 29, 18, 7, 26,
        14, 4, 23, 13, 1, 20, 9, 28, 16, 5, 24, 14, 3, 22, 11, 0, 18, 7, 26, 15, 4, 23, 12, 2, 19,
        8, 27,
    )  # fmt: skip
    SEVENTH = (7, 31), (
        6, 25, 15, 4, 22, 11, 0, 19, 7, 26, 16, 6, 23, 13, 2, 20, 9, 28, 17, 7, 25, 14, 4, 22, 10,
        29, 19, 8, 26, 16, 5, 24, 12, 1, 20, 10, 28, 17, 7, 26, 14, 3, 22, 11, 0, 19, 8, 27, 16,
        5, 23,
    )  # fmt: skip
    MID_AUTUMN = (9, 8), (
        4, 23, 13, 3, 20, 10, 28, 17, 6, 25, 14, 4, 22, 11, 0, 19, 7, 26, 16, 5, 23, 13, 2, 21, 9,
        28, 17, 7, 25, 14, 4, 23, 11, 0, 19, 8, 26, 16, 5, 24, 12, 2, 20, 9, 27, 17, 7, 26, 14, 3,
        22,
    )  # fmt: skip
    DOUBLE_NINTH = (10, 1), (
        5, 24, 13, 3, 21, 10, 29, 18, 6, 25, 15, 4, 22, 12, 1, 20, 8, 27, 16, 6, 24, 13, 3, 22,
        10, 28, 17, 7, 25, 15, 4, 23, 11, 0, 19, 8, 26, 16, 6, 25, 13, 2, 21, 10, 28, 17, 7, 26,
        15, 4, 23,
    )  # fmt: skip

    def of(self, year: int) -> date:
        """Return its day; raises ``ValueError`` for years that are not from 2000 to 2050."""
        (month, day), days = self.value
        if not 0 <= year - _FIRST_YEAR < len(days):
            raise ValueError(f"the feasts of the moon in {year} are not known here")
        return date(year, month, day) + timedelta(days[year - _FIRST_YEAR])


_SUNDAY, _THURSDAY, _MONDAY = 6, 3, 0


@dataclass(frozen=True, slots=True)
class _Feast:
    """A day of a month, and how many days it lasts; or the ``nth`` such weekday of the month."""

    words: str
    month: int
    day: int = 1
    lasts: int = 1
    weekday: int | None = None
    nth: int = 1

    def of(self, year: int) -> Reading:
        first = self._first(year)
        if self.weekday is not None:
            ahead = (self.weekday - first.weekday()) % 7
            first += timedelta(ahead + 7 * (self.nth - 1))
        return calendar.period(first, first + timedelta(self.lasts - 1))

    def _first(self, year: int) -> date:
        return date(year, self.month, self.day)

    @property
    def is_movable(self) -> bool:
        """Whether it has another date in other years, and no weekday tells which."""
        return False


@dataclass(frozen=True, slots=True)
class _MovableFeast(_Feast):
    """One that is counted from another, which is its ``day`` 1; ``month`` says nothing."""

    counted_from: Callable[[int], date] = MoonFeast.NEW_YEAR.of

    def _first(self, year: int) -> date:
        return self.counted_from(year) + timedelta(self.day - 1)

    @property
    def is_movable(self) -> bool:
        return True


def _easter(year: int) -> date:
    """Return Easter Sunday of the western churches (the anonymous Gregorian computus)."""
    century, of_century = divmod(year, 100)
    golden = year % 19
    moon = (19 * golden + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - moon - of_century % 4) % 7
    late = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return date(year, month, day + 1)


_ENGLISH = (
    _MovableFeast(r"(?:chinese|lunar)\s+new\s+year['’]?s\s+eve", 1, 0),
    _MovableFeast(r"(?:chinese|lunar)\s+new\s+year(?:['’]?s(?:\s+day)?)?", 1, 1, 7),
    _MovableFeast(
        r"dragon[\s-]+boat(?:\s+(?:festival|day))", 5, counted_from=MoonFeast.DRAGON_BOATS.of
    ),
    _MovableFeast(r"qixi(?:\s+festival)?", 7, counted_from=MoonFeast.SEVENTH.of),
    _MovableFeast(r"(?:mid-?\s?autumn|moon)\s+festival", 8, counted_from=MoonFeast.MID_AUTUMN.of),
    _Feast(r"new\s+year['’]?s\s+eve", 12, 31),
    _Feast(r"new\s+year(?:['’]?s(?:\s+day)?)?", 1, 1),
    _Feast(r"(?:st\.?\s+)?valentine['’]?s(?:\s+day)?", 2, 14),
    _Feast(r"(?:st\.?|saint)\s+patrick['’]?s(?:\s+day)?", 3, 17),
    _MovableFeast(r"good\s+friday(?!\s+agreement)", 3, -1, counted_from=_easter),
    _MovableFeast(r"easter\s+sunday", 3, counted_from=_easter),
    _MovableFeast(r"easter\s+monday", 3, 2, counted_from=_easter),
    _MovableFeast(
        r"(?<!orthodox\s)(?<!greek\s)easter(?:\s+(?:weekend|holidays?|break))?"
        r"(?![\s-]+(?:egg|bunn|basket|island|lil|road|rising|hunt))",
        3,
        -1,
        4,
        counted_from=_easter,
    ),
    _Feast(r"april\s+fools?['’]?s?(?:\s+day)?", 4, 1),
    _Feast(r"earth\s+day", 4, 22),
    _Feast(r"mother['’]?s['’]?\s+day", 5, weekday=_SUNDAY, nth=2),
    _Feast(r"father['’]?s['’]?\s+day", 6, weekday=_SUNDAY, nth=3),
    _Feast(r"juneteenth", 6, 19),
    _Feast(r"independence\s+day|(?:the\s+)?(?:fourth|4th)\s+of\s+july|july\s+fourth", 7, 4),
    _Feast(r"bastille\s+day", 7, 14),
    _Feast(r"labou?r\s+day", 9, weekday=_MONDAY),
    _Feast(r"hallowe['’]?en", 10, 31),
    _Feast(r"veterans['’]?\s+day|armistice\s+day", 11, 11),
    _Feast(r"thanksgiving(?:\s+day)?", 11, weekday=_THURSDAY, nth=4),
    _Feast(r"christmas\s+eve", 12, 24),
    _Feast(r"(?:christmas|xmas)(?:\s+day)?", 12, 25),
    _Feast(r"boxing\s+day", 12, 26),
)
_CHINESE = (
    _Feast("元旦(?:节)?", 1, 1),
    _MovableFeast("(?:大年)?除夕夜?|大年三十", 1, 0),
    _MovableFeast("大年初一|正月初一", 1, 1),
    _MovableFeast("春节(?:黄金周|假期|长假|期间)?", 1, 1, 7),
    _MovableFeast("元宵节", 1, 15),
    _Feast("(?:西方)?情人节", 2, 14),
    _Feast("(?:三八)?妇女节|女神节|三八节", 3, 8),
    _Feast("植树节", 3, 12),
    _Feast("愚人节", 4, 1),
    _Feast(
        "清明(?:节|假期|小长假|期间)+|(?<![说讲问查看听写弄搞澄分认理数算李智志])清明"
        "(?![白年细确显]|天(?!气)|上河|前?茶)",
        4,
        4,
        3,
    ),
    _Feast(
        "(?:五一)?(?:国际)?劳动节|五一(?![路广区场号村中小零])(?:假期|长假|小长假|期间)?", 5, 1, 5
    ),
    _Feast("(?:五四)?青年节|五四(?![路运广])", 5, 4),
    _Feast("母亲节", 5, weekday=_SUNDAY, nth=2),
    _Feast("(?:六一)?(?:国际)?儿童节|六一(?![路居号])", 6, 1),
    _Feast("父亲节", 6, weekday=_SUNDAY, nth=3),
    _MovableFeast(
        "端午(?:节|假期|小长假|期间)+|(?<![前后云两末顶终高低楼王])端午(?![饭休睡餐觉])",
        5,
        lasts=3,
        counted_from=MoonFeast.DRAGON_BOATS.of,
    ),
    _Feast("(?:七一)?建党节", 7, 1),
    _Feast("(?:八一)?建军节", 8, 1),
    _MovableFeast("七夕(?:情人)?节|七夕(?!鱼)", 7, counted_from=MoonFeast.SEVENTH.of),
    _Feast("教师节", 9, 10),
    _MovableFeast(
        "中秋(?:节|假期|小长假|期间)+|(?<![高初其集期心手])中秋(?!天(?!气)|季|游(?!园))",
        8,
        lasts=3,
        counted_from=MoonFeast.MID_AUTUMN.of,
    ),
    _MovableFeast(
        "重阳节|(?<![双多几三二两王])重阳(?![性光台])", 9, counted_from=MoonFeast.DOUBLE_NINTH.of
    ),
    _Feast("(?:十一)?国庆节?(?:黄金周|假期|长假|期间)?|十一(?:黄金周|假期|长假|期间)", 10, 1, 7),
    _Feast("万圣节|万圣夜", 10, 31),
    _Feast("双十一|双11|光棍节", 11, 11),
    _Feast("感恩节", 11, weekday=_THURSDAY, nth=4),
    _Feast("双十二|双12", 12, 12),
    _Feast("平安夜", 12, 24),
    _Feast("圣诞节?", 12, 25),
    _Feast("跨年夜?", 12, 31),
)
_YEAR_BEFORE = r"(?:(?P<year>(?:19|20)\d\d)\s+|(?P<which>last|this|next)\s+(?:year['’]s\s+)?)?"
_OF_YEAR = (
    r"(?:,?\s+(?:(?:of|in)\s+)?(?P<after>(?:19|20)\d\d)(?![\w%]|[.,:/-]\d)"
    r"|,?\s+(?:(?:of|in)\s+)?(?P<whose>last|this|next)\s+year\b)?"
)
_WHOSE = f"(?:(?:(?<!\\d)(?P<year>{YEAR})年|(?P<whose>大?前年|去年|今年|明年|后年))的?)?"


def _named(feasts: tuple[_Feast, ...], text: str) -> _Feast:
    return next(each for each in feasts if re.fullmatch(each.words, text, re.IGNORECASE | re.ASCII))


def _latest(feast: _Feast, said: date) -> Reading:
    found = feast.of(said.year)
    return found if found.first <= said else feast.of(said.year - 1)


def _english(match: re.Match[str], said: date) -> Reading:
    feast, which = _named(_ENGLISH, match["feast"]), (match["which"] or "").lower()
    if match["year"] or match["after"]:
        return feast.of(int(match["year"] or match["after"]))
    whose = question_english.english_year_in(match, said)
    if whose is not None:
        return feast.of(whose)
    latest = _latest(feast, said)
    if which == "next":
        return feast.of(latest.first.year + 1)
    if which == "this":
        return feast.of(said.year)
    if which == "last":
        return latest if latest.last < said else feast.of(latest.first.year - 1)
    return replace(latest, yearless=not feast.is_movable)


def _chinese(match: re.Match[str], said: date) -> Reading:
    feast, year = _named(_CHINESE, match["feast"]), chinese.chinese_year_in(match, said)
    if year is None and feast.is_movable:
        return _latest(feast, said)  # it has another date in other years
    return yearless(_latest(feast, said) if year is None else feast.of(year), year)


HOLIDAY_RULES = (
    Rule.of(
        rf"\b{_YEAR_BEFORE}(?P<feast>{'|'.join(each.words for each in _ENGLISH)})\b{_OF_YEAR}",
        _english,
        "day", "eve", "new", "valentine", "patrick", "april", "juneteenth", "july", "hallowe",
        "thanksgiving", "mas", "easter", "good", "qixi",
        "festival",
    ),
    Rule.of(
        f"{_WHOSE}(?P<feast>{'|'.join(each.words for each in _CHINESE)})",
        _chinese,
        "节", "元旦", "除夕", "大年", "一", "四", "国庆", "夜", "圣诞", "跨年", "双1", "清明",
        "端午", "七夕", "中秋", "重阳",
    ),
)  # fmt: skip
