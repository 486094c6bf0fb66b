"""Chinese times as questions name them, beyond what ``memci.language.times`` finds (R10)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from memci.language.times import calendar
from memci.language.times.calendar import YEAR, ZH_NUMBER, chinese_number
from memci.language.times.question_english import (
    half_ago,
    lately,
    latest,
    quarter_of,
    season_of,
    within,
    yearless,
)
from memci.language.times.rules import Reading, Rule, unsure

_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_WHOSE = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1}
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week"}
_UNITS |= {"月": "month", "年": "year"}
# First and last day of a month's part.
_PARTS = {"初": (1, 10), "上旬": (1, 10), "中旬": (11, 20), "中": (11, 20)}
_PARTS |= {"下旬": (21, 31), "底": (21, 31), "末": (21, 31)}
_PARTS_OF_YEAR = {"初": (1, 3), "中": (5, 8), "底": (10, 12), "末": (10, 12), "终": (10, 12)}
_PARTS_OF_YEAR |= {"上半年": (1, 6), "下半年": (7, 12)}
# Groups: year, whose.
_WHOSE_YEAR = f"(?:(?:(?<!\\d)(?P<year>{YEAR})年|(?P<whose>大?前年|去年|今年|明年|后年))的?)"
_MONTH_PART = f"(?P<part>{'|'.join(_PARTS)})(?![学级文国午间])"
_NEAREST = re.compile(r"[离距離]\w{0,6}\Z")
_DAYS_A_WEEK = 7
_FEW, _A_WHILE = 5, 60
_CENTURY, _PIVOT = 1900, 3


def year_in(match: re.Match[str], said: date) -> int | None:
    """Return the year that the groups ``year`` and ``whose`` name; None: none."""
    parts = match.groupdict()
    if parts.get("year"):
        return chinese_number(parts["year"])
    return said.year + _WHOSE[parts["whose"]] if parts.get("whose") else None


def _month_in(match: re.Match[str], said: date, group: str = "m") -> Reading:
    year, month = year_in(match, said), chinese_number(match[group])
    return yearless(latest(said, month) if year is None else calendar.month_of(year, month), year)


def _part_of_month(match: re.Match[str], said: date) -> Reading:
    month = _month_in(match, said)
    return replace(within(month, *_PARTS[match["part"]]), certain=False, yearless=month.yearless)


def _part_of_this(match: re.Match[str], said: date) -> Reading:
    month = calendar.month(said, _STEPS[match["step"]])
    return unsure(within(month, *_PARTS[match["part"]]))


def _week_of_month(match: re.Match[str], said: date) -> Reading:
    month, count = _month_in(match, said), chinese_number(match["n"])
    first = _DAYS_A_WEEK * (count - 1) + 1
    found = within(month, first, first + _DAYS_A_WEEK - 1)
    return replace(found, certain=False, yearless=month.yearless)


def _part_of_year(match: re.Match[str], said: date) -> Reading:
    year = year_in(match, said)
    first, last = _PARTS_OF_YEAR[match["part"] or match["half"]]
    begun = year if year is not None else said.year - (first > said.month)
    found = calendar.period(date(begun, first, 1), calendar.month_of(begun, last).last)
    return replace(unsure(found), yearless=year is None)


def _season(match: re.Match[str], said: date) -> Reading:
    found = season_of(said, _SEASONS[match["season"]], year_in(match, said))
    step = match.groupdict().get("step")
    if step == "上" and found.last >= said:
        return calendar.season(found.first.year - 1, _SEASONS[match["season"]])
    return replace(found, yearless=found.yearless and not step)


def _quarter(match: re.Match[str], said: date) -> Reading:
    return quarter_of(said, chinese_number(match["q"]), year_in(match, said))


def _short_year(match: re.Match[str], _said: date) -> Reading:
    """Read 22年5月, 23年5月8日."""
    year, month = 2000 + int(match["yy"]), chinese_number(match["m"])
    if match["d"] is None:
        return calendar.month_of(year, month)
    return calendar.day(date(year, month, chinese_number(match["d"])), 0)


def _days(match: re.Match[str], said: date) -> Reading | None:
    """Read 5月1日到7日."""
    begun, ended = _month_in(match, said), _month_in(match, said, "m2" if match["m2"] else "m")
    year = year_in(match, said)
    if year is None and ended.first < begun.first:
        begun = calendar.month_of(ended.first.year - (begun.first.month > ended.first.month),
                               begun.first.month)  # fmt: skip
    first = begun.first.replace(day=chinese_number(match["d1"]))
    last = ended.first.replace(day=chinese_number(match["d2"]))
    return yearless(calendar.period(first, last), year) if first <= last else None


def _months(match: re.Match[str], said: date) -> Reading | None:
    """Read 3月到5月."""
    year, first, last = (
        year_in(match, said),
        chinese_number(match["m1"]),
        chinese_number(match["m2"]),
    )
    ended = latest(said, last) if year is None else calendar.month_of(year, last)
    begun = calendar.month_of(ended.first.year - (year is None and first > last), first)
    if begun.first > ended.last:
        return None
    return yearless(calendar.period(begun.first, ended.last), year)


def _and_half(match: re.Match[str], said: date) -> Reading:
    """Read 一年半前, 两个半月前."""
    return half_ago(said, _UNITS[match["unit"] or match["unit2"]], chinese_number(match["n"]))


def _half(match: re.Match[str], said: date) -> Reading:
    """Read 半年前, 半个月前."""
    return half_ago(said, "year" if match["unit"] == "年" else "month", 0)


def _rolling(match: re.Match[str], said: date) -> Reading:
    unit = _UNITS[match["unit"]]
    if match["n"] == "半":
        days = 182 if unit == "year" else 15
        return calendar.period(said - timedelta(days), said)
    count = _FEW if match["n"] in "几数" else chinese_number(match["n"])
    return replace(calendar.rolling(said, unit, -count), certain=match["n"] not in "几数")


def _lately(match: re.Match[str], said: date) -> Reading:
    """Read 前几天, 前两天 and 前段时间."""
    far, near = {"几": (7, 2), "两": (3, 1), "些": (14, 2)}.get(match["n"] or "", (_A_WHILE, 7))
    return unsure(calendar.period(said - timedelta(far), said - timedelta(near)))


def _recent(match: re.Match[str], said: date) -> Reading | None:
    """Read 最近, unless it is said of a place: 离我最近."""
    return None if _NEAREST.search(match.string[: match.start()]) else lately(match, said)


def _decade(match: re.Match[str], _said: date) -> Reading:
    tens = chinese_number(match["tens"])
    tens = tens // 10 if tens > _DAYS_A_WEEK + 2 else tens
    first = _CENTURY + 10 * tens + (100 if tens < _PIVOT else 0)
    return calendar.period(date(first, 1, 1), date(first + 9, 12, 31))


_DAY = f"{ZH_NUMBER}[日号]?"
_UNIT = "(?P<unit>天|周|星期|礼拜|(?<=个)月|年)"
_TO = "(?:至|到|[-–—~～])"

RULES = (
    Rule.of(f"{_WHOSE_YEAR}?(?<![\\d个])(?P<m>{ZH_NUMBER})月份?的?{_MONTH_PART}",
            _part_of_month, "月"),
    Rule.of(f"(?P<step>上上|上|这|本|下)个?月的?{_MONTH_PART}", _part_of_this, "月"),
    Rule.of(f"{_WHOSE_YEAR}?(?P<m>{ZH_NUMBER})月份?的?第(?P<n>[一二三四1-4])个?(?:周|星期|礼拜)(?!末)",
            _week_of_month, "月"),
    Rule.of(f"{_WHOSE_YEAR}(?:年?(?P<part>[初底末终中])(?![学级文国午间秋])|(?P<half>[上下]半年))",
            _part_of_year, "年"),
    Rule.of("(?<![去今明前后每\\d])(?:年(?P<part>[初底终])|(?<![一-龥])(?P<half>[上下]半年))",
            _part_of_year, "年"),
    # 春节, 秋分, 冬至 and the like are days, and no seasons.
    Rule.of(f"{_WHOSE_YEAR}(?:的)?(?P<season>[春夏秋冬])(?![节分至晚运])[天季日]?", _season, "年"),
    Rule.of("(?P<step>上|这)一?个(?P<season>[春夏秋冬])[天季]", _season, *_SEASONS),
    Rule.of("(?<![一-龥])(?:在|到)?(?P<mention>(?P<season>[春夏秋冬])[天季])", _season, *_SEASONS),
    Rule.of(f"{_WHOSE_YEAR}?第?(?P<q>[一二三四1-4])季度", _quarter, "季度"),
    Rule.of(f"(?<!\\d)(?P<yy>[0-4]\\d)年(?P<m>{ZH_NUMBER})月(?:份|(?P<d>{ZH_NUMBER})[日号])?",
            _short_year, "年"),
    Rule.of(f"{_WHOSE_YEAR}?(?<![\\d个])(?P<m>{ZH_NUMBER})月(?P<d1>{ZH_NUMBER})[日号]?{_TO}"
            f"(?:(?P<m2>{ZH_NUMBER})月)?(?P<d2>{ZH_NUMBER})[日号]", _days, "月"),
    Rule.of(f"{_WHOSE_YEAR}?(?<![\\d个])(?P<m1>{ZH_NUMBER})月?份?{_TO}(?P<m2>{ZH_NUMBER})月份?(?!{ZH_NUMBER}[日号])",
            _months, "月"),
    Rule.of(f"(?P<n>{ZH_NUMBER})(?:(?P<unit>年|周)半|个半(?P<unit2>月))(?:之|以)?前",
            _and_half, "半"),
    Rule.of("(?<![一二三四五六七八九十两\\d]年)半(?P<unit>年|(?=个月)个月)(?:之|以)?前",
            _half, "半"),
    Rule.of(f"(?:最近|过去|近|这)的?(?P<n>{ZH_NUMBER}|[几数半])个?{_UNIT}(?![前后])", _rolling,
            "近", "过去", "这"),
    Rule.of(f"(?P<n>{ZH_NUMBER}|[几数半])个?{_UNIT}(?:以来|来|之内|以内|内)", _rolling, "来", "内"),
    Rule.of("(?<![目先空])前(?:一?(?:段时间|阵子|段日子)|(?P<n>[几两些])(?:天|日子?))",
            _lately, "前"),
    Rule.of("最近(?!的?一[次回]|的?那[次回]|的(?:地铁|车|站|医院|学校|超市|餐|商|店|酒店|路|机场|银行))"
            "|近来|近期|近日|近况|这(?:阵子|段时间|段日子|些天|些日子)", _recent, "近", "这"),
    Rule.of("(?:上世纪|二十世纪|20世纪)?(?P<tens>\\d0|[一二三四五六七八九]十)年代",
            _decade, "年代"),
)  # fmt: skip
