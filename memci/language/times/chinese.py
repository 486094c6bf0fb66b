"""Chinese expressions of time: those of messages, then those that only questions name (R10).

Weeks begin on Monday, and 上周五 is the Friday of last week. Chinese writes no blanks, so patterns
also look at both sides of each word: 目前天气 has no 前天. ``is_doubtful`` finds titles, ideals and
generic talk.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from memci.language.times import calendar
from memci.language.times.calendar import (
    CHINESE_STEPS,
    CHINESE_UNITS,
    CHINESE_WEEKDAYS,
    DAYS_A_WEEK,
    SATURDAY,
    YEAR,
    ZH_NUMBER,
    chinese_number,
)
from memci.language.times.dates import nearest_day
from memci.language.times.question_english import (
    days_of_month,
    half_ago,
    latest_month,
    quarter_of,
    recent_days,
    season_of,
    yearless,
)
from memci.language.times.rules import Reading, Rule, as_guess, sentence_around

_HAN = "\u3400-\u9fff"
# 前天, 后天, 前年 and 后年 also come about by accident (目前天气, 先天后天, 三年前年轻).
_FREE = f"(?<![^\\W{_HAN}])(?:(?<![{_HAN}])|(?<=[我你他她们是在从到就和跟的了于自至，。]))"
_PART = "(?:清晨|早晨|凌晨|早上|上午|中午|下午|傍晚|晚上|夜里|晚间|半夜)?"
# 早上, 楼下, 以上, 马上, 日本 and the like end in the same characters.
_NOT_AFTER = (
    "一以早晚马楼天地桌路身手线网世会如当留剩放乡海街山车船岸台场市北南东西左右前后省皮脸书店坐加算跟"
    "赶遇碰穿戴爱写贴附送底臂腿上下脚接吃喝余私"
)
# 总结一下上周: what ends in 一下 asks for something.
_STEP = (
    f"(?P<step>(?:(?<![{_NOT_AFTER}])|(?<=一下)(?=上))(?:上上|下下|上|下)|这"
    "|(?<![日书基课剧版资成样文原根])本)一?个?"
)
# 说明, 聪明, 小明 and the like end in 明; a name may too (李明天生…).
_MING = (
    "(?<![说文光证表声发照透公黎聪鲜英清开简精分标注阐指查昆三小晓])"
    f"(?:(?<![{_HAN}])|(?!明天[生才真资赋使空]))"
)
_WEEKS = ("周", "星期", "礼拜")
_WEEK = f"(?:{'|'.join(_WEEKS)})"
_NOT_A_WEEK = "(?![期围边年转游遭密刚长身折济旋知岁末一二三四五六日天])"
_NOT_A_YEAR = "(?![轻代龄级纪度])"

_DAYS = {"大前天": -3, "前天": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "大后天": 3}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "大后年": 3}


def _day(match: re.Match[str], said: date) -> Reading:
    return calendar.day(said, _DAYS[match["day"]])


def _week(match: re.Match[str], said: date) -> Reading:
    return calendar.week(said, CHINESE_STEPS[match["step"]])


def _weekend(match: re.Match[str], said: date) -> Reading:
    return calendar.weekend(said, CHINESE_STEPS[match["step"]])


def _index(character: str) -> int:
    return CHINESE_WEEKDAYS.index(character.replace("天", "日"))


def _weekday(match: re.Match[str], said: date) -> Reading:
    return calendar.weekday(said, CHINESE_STEPS[match["step"]], _index(match["day"]))


def _bare_weekday(match: re.Match[str], said: date) -> Reading:
    return calendar.latest_weekday(said, _index(match["day"]))


def _bare_weekend(_match: re.Match[str], said: date) -> Reading:
    return as_guess(calendar.weekend(said, -(said.weekday() < SATURDAY)))


def _month(match: re.Match[str], said: date) -> Reading:
    found = calendar.month(said, CHINESE_STEPS[match["step"]])
    return _in_month(found.first.year, found.first.month, match["d"])


def _in_month(year: int, month: int, day: str | None) -> Reading:
    if day is None:
        return calendar.month_of(year, month)
    return calendar.day(date(year, month, chinese_number(day)), 0)


def _year(match: re.Match[str], said: date) -> Reading:
    year = said.year + _YEARS[match["year"]]
    if match["m"] is None:
        return calendar.year_of(year)
    return _in_month(year, chinese_number(match["m"]), match["d"])


def _distant(match: re.Match[str], said: date) -> Reading:
    count = chinese_number(match["n"])
    back = match["side"].endswith("前")
    found = calendar.distant(said, CHINESE_UNITS[match["unit"]], -count if back else count)
    # 两周后 may as well be counted from the day of the story.
    return as_guess(found, sure=back)


def _vague(match: re.Match[str], said: date) -> Reading:
    near, far = (
        calendar.rolling(said, CHINESE_UNITS[match["unit"]], -count).first for count in (2, 7)
    )
    return as_guess(calendar.period(far, near))


def _rolling(match: re.Match[str], said: date) -> Reading:
    return calendar.rolling(said, CHINESE_UNITS[match["unit"]], -chinese_number(match["n"]))


def _full(match: re.Match[str], _said: date) -> Reading:
    year = chinese_number(match["year"])
    if match["m"] is None:
        return replace(calendar.year_of(year), whole=True)
    return replace(_in_month(year, chinese_number(match["m"]), match["d"]), whole=True)


def _days(match: re.Match[str], _said: date) -> Reading | None:
    """Read 2023年5月29日–6月4日 and 2023年5月1日到7日."""
    year, month = chinese_number(match["year"]), chinese_number(match["m"])
    first = date(year, month, chinese_number(match["d"]))
    last_year = chinese_number(match["y2"]) if match["y2"] else year
    last_month = chinese_number(match["m2"]) if match["m2"] else month
    last = date(last_year, last_month, chinese_number(match["d2"]))
    return replace(calendar.period(first, last), whole=True) if first <= last else None


def _without_year(match: re.Match[str], said: date) -> Reading | None:
    if match["d"] is not None:
        told = sentence_around(match.string, *match.span())
        return nearest_day(said, chinese_number(match["m"]), chinese_number(match["d"]), told)
    month = chinese_number(match["m"])
    return as_guess(calendar.month_of(said.year - (month > said.month), month))


_MONTH_AND_DAY = f"(?P<m>{ZH_NUMBER})月(?:份|(?P<d>{ZH_NUMBER})[日号])?"
_COUNTED = f"(?P<n>{ZH_NUMBER})(?:个)?(?P<unit>天|周|星期|礼拜|(?<=个)月|年)"
_LONE = "(?<![几数多百千万第零半十两一二三四五六七八九\\d.])"

RELATIVE_RULES = (
    Rule.of(f"{_FREE}(?P<day>大?前天|大?后天){_PART}(?![天气空努形养性环培因教获免习然])",
            _day, "前天", "后天"),
    Rule.of(f"(?P<day>昨)(?:[天日儿]|晚|夜){_PART}(?!重现)", _day, "昨"),
    Rule.of(
        f"(?<![如当现至])(?P<day>今)(?:[天日儿]|晚|早|晨|夜){_PART}(?!头条|说法|之)", _day, "今"
    ),
    Rule.of(f"{_MING}(?P<day>明)(?:[天日儿]|晚|早|晨){_PART}(?!天(?!气)|之|方舟)", _day, "明"),
    Rule.of(f"{_STEP}{_WEEK}{_NOT_A_WEEK}", _week, *_WEEKS),
    Rule.of(f"{_STEP}{_WEEK}末", _weekend, "末"),
    Rule.of(f"{_STEP}{_WEEK}(?P<day>[一二三四五六日天]){_PART}", _weekday, *_WEEKS),
    Rule.of(f"(?<![上下这本每个]){_WEEK}(?P<day>[一二三四五六日天])(?![个报]){_PART}",
            _bare_weekday, *_WEEKS),
    Rule.of("(?<![上下这本每个])周末", _bare_weekend, "末"),
    Rule.of(f"{_STEP}月(?:份|(?P<d>{ZH_NUMBER})[日号])?(?![亮光饼球台经])", _month, "月"),
    Rule.of(f"{_FREE}(?P<year>大?前年|大?后年)(?:的?{_MONTH_AND_DAY})?{_NOT_A_YEAR}", _year, "年"),
    Rule.of(f"(?P<year>(?<!过)去年|(?<![如当现至])今年|{_MING}明年)"
            f"(?:的?{_MONTH_AND_DAY})?{_NOT_A_YEAR}", _year, "年"),
    Rule.of(f"{_LONE}{_COUNTED}(?P<side>之前|以前|前)(?![后往进途台夕])", _distant, "前"),
    Rule.of(f"{_LONE}{_COUNTED}(?P<side>之后|以后|后)(?![来续面辈裔])", _distant, "后"),
    Rule.of(
        "(?<![十百千])[几数]十?个?(?P<unit>天|周|星期|礼拜|月|年)(?:之前|以前|前)", _vague, "前"
    ),
    Rule.of(f"(?:最近|过去|近)的?{_COUNTED}", _rolling, "近", "过去"),
)  # fmt: skip

DATE_RULES = (
    Rule.of(f"(?<![\\d.])(?P<year>{YEAR})年(?P<m>{ZH_NUMBER})月(?P<d>{ZH_NUMBER})[日号]"
            f"(?:至|到|[-–—~～])(?:(?P<y2>{YEAR})年)?(?:(?P<m2>{ZH_NUMBER})月)?(?P<d2>{ZH_NUMBER})[日号]",
            _days, "年"),
    Rule.of(f"(?<![\\d.])(?P<year>{YEAR})年(?:{_MONTH_AND_DAY})?", _full, "年"),
    Rule.of("(?:(?<![\\d.年个零〇一二三四五六七八九十两几多这上下])|(?<=一下))" + _MONTH_AND_DAY,
            _without_year, "月"),
)  # fmt: skip


_IDEAL = re.compile(r"(?:美好|的|没有|新)\Z")
_TITLE = re.compile(r"会更好|依旧")
_GENERIC = re.compile(r"的(?:社会|世界|中国|时代|年轻人|孩子|生活|青年|幸福|我们|你|我)")
_RELATIVE_TO_AN_EVENT = re.compile(r"[^\W\d_a-zA-Z]\Z")
_MAY_STAND_BEFORE_A_COUNT = re.compile(r"[我你他她它们在是从早于自大约概就了的，]\Z")


def is_doubtful(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Return True if a Chinese expression may be an ideal, generic, or counted from an event."""
    words = text[start:end]
    if words.startswith("明"):
        return bool(_IDEAL.search(text[max(0, start - 2) : start]) or _TITLE.match(text, end))
    if words.startswith("今天"):
        return bool(_GENERIC.match(text, end))
    if words.endswith("前"):
        # 比赛三天前 is three days before the match.
        before = text[max(0, start - 1) : start]
        return bool(_RELATIVE_TO_AN_EVENT.match(before)) and not bool(
            _MAY_STAND_BEFORE_A_COUNT.match(before)
        )
    return False


_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}

# First and last day of a month's part.
_PARTS = {"初": (1, 10), "上旬": (1, 10), "中旬": (11, 20), "中": (11, 20)}
_PARTS |= {"下旬": (21, 31), "底": (21, 31), "末": (21, 31)}
_PARTS_OF_YEAR = {"初": (1, 3), "中": (5, 8), "底": (10, 12), "末": (10, 12), "终": (10, 12)}
_PARTS_OF_YEAR |= {"上半年": (1, 6), "下半年": (7, 12)}
# Groups: year, whose.
_WHOSE_YEAR = f"(?:(?:(?<!\\d)(?P<year>{YEAR})年|(?P<whose>大?前年|去年|今年|明年|后年))的?)"
_MONTH_PART = f"(?P<part>{'|'.join(_PARTS)})(?![学级文国午间])"
_NEAREST = re.compile(r"[离距離]\w{0,6}\Z")
_FEW, _A_WHILE = 5, 60
_CENTURY, _PIVOT = 1900, 3


def chinese_year_in(match: re.Match[str], said: date) -> int | None:
    """Return the year that the groups ``year`` and ``whose`` name; None: none."""
    parts = match.groupdict()
    if parts.get("year"):
        return chinese_number(parts["year"])
    return said.year + _YEARS[parts["whose"]] if parts.get("whose") else None


def _month_in(match: re.Match[str], said: date, group: str = "m") -> Reading:
    year, month = chinese_year_in(match, said), chinese_number(match[group])
    return yearless(
        latest_month(said, month) if year is None else calendar.month_of(year, month), year
    )


def _part_of_month(match: re.Match[str], said: date) -> Reading:
    month = _month_in(match, said)
    return replace(
        days_of_month(month, *_PARTS[match["part"]]), certain=False, yearless=month.yearless
    )


def _part_of_this(match: re.Match[str], said: date) -> Reading:
    month = calendar.month(said, CHINESE_STEPS[match["step"]])
    return as_guess(days_of_month(month, *_PARTS[match["part"]]))


def _week_of_month(match: re.Match[str], said: date) -> Reading:
    month, count = _month_in(match, said), chinese_number(match["n"])
    first = DAYS_A_WEEK * (count - 1) + 1
    found = days_of_month(month, first, first + DAYS_A_WEEK - 1)
    return replace(found, certain=False, yearless=month.yearless)


def _part_of_year(match: re.Match[str], said: date) -> Reading:
    year = chinese_year_in(match, said)
    first, last = _PARTS_OF_YEAR[match["part"] or match["half"]]
    begun = year if year is not None else said.year - (first > said.month)
    found = calendar.period(date(begun, first, 1), calendar.month_of(begun, last).last)
    return replace(as_guess(found), yearless=year is None)


def _season(match: re.Match[str], said: date) -> Reading:
    found = season_of(said, _SEASONS[match["season"]], chinese_year_in(match, said))
    step = match.groupdict().get("step")
    if step == "上" and found.last >= said:
        return calendar.season(found.first.year - 1, _SEASONS[match["season"]])
    return replace(found, yearless=found.yearless and not step)


def _quarter(match: re.Match[str], said: date) -> Reading:
    return quarter_of(said, chinese_number(match["q"]), chinese_year_in(match, said))


def _short_year(match: re.Match[str], _said: date) -> Reading:
    """Read 22年5月, 23年5月8日."""
    year, month = 2000 + int(match["yy"]), chinese_number(match["m"])
    if match["d"] is None:
        return calendar.month_of(year, month)
    return calendar.day(date(year, month, chinese_number(match["d"])), 0)


def _days_of_months(match: re.Match[str], said: date) -> Reading | None:
    """Read 5月1日到7日."""
    begun, ended = _month_in(match, said), _month_in(match, said, "m2" if match["m2"] else "m")
    year = chinese_year_in(match, said)
    if year is None and ended.first < begun.first:
        begun = calendar.month_of(ended.first.year - (begun.first.month > ended.first.month),
                               begun.first.month)  # fmt: skip
    first = begun.first.replace(day=chinese_number(match["d1"]))
    last = ended.first.replace(day=chinese_number(match["d2"]))
    return yearless(calendar.period(first, last), year) if first <= last else None


def _months(match: re.Match[str], said: date) -> Reading | None:
    """Read 3月到5月."""
    year, first, last = (
        chinese_year_in(match, said),
        chinese_number(match["m1"]),
        chinese_number(match["m2"]),
    )
    ended = latest_month(said, last) if year is None else calendar.month_of(year, last)
    begun = calendar.month_of(ended.first.year - (year is None and first > last), first)
    if begun.first > ended.last:
        return None
    return yearless(calendar.period(begun.first, ended.last), year)


def _and_half(match: re.Match[str], said: date) -> Reading:
    """Read 一年半前, 两个半月前."""
    return half_ago(
        said, CHINESE_UNITS[match["unit"] or match["unit2"]], chinese_number(match["n"])
    )


def _half(match: re.Match[str], said: date) -> Reading:
    """Read 半年前, 半个月前."""
    return half_ago(said, "year" if match["unit"] == "年" else "month", 0)


def _past_units(match: re.Match[str], said: date) -> Reading:
    unit = CHINESE_UNITS[match["unit"]]
    if match["n"] == "半":
        days = 182 if unit == "year" else 15
        return calendar.period(said - timedelta(days), said)
    count = _FEW if match["n"] in "几数" else chinese_number(match["n"])
    return replace(calendar.rolling(said, unit, -count), certain=match["n"] not in "几数")


def _lately(match: re.Match[str], said: date) -> Reading:
    """Read 前几天, 前两天 and 前段时间."""
    far, near = {"几": (7, 2), "两": (3, 1), "些": (14, 2)}.get(match["n"] or "", (_A_WHILE, 7))
    return as_guess(calendar.period(said - timedelta(far), said - timedelta(near)))


def _recent(match: re.Match[str], said: date) -> Reading | None:
    """Read 最近, except of a place: 离我最近."""
    return None if _NEAREST.search(match.string[: match.start()]) else recent_days(match, said)


def _decade(match: re.Match[str], _said: date) -> Reading:
    tens = chinese_number(match["tens"])
    tens = tens // 10 if tens > DAYS_A_WEEK + 2 else tens
    first = _CENTURY + 10 * tens + (100 if tens < _PIVOT else 0)
    return calendar.period(date(first, 1, 1), date(first + 9, 12, 31))


_DAY = f"{ZH_NUMBER}[日号]?"
_UNIT = "(?P<unit>天|周|星期|礼拜|(?<=个)月|年)"
_TO = "(?:至|到|[-–—~～])"

QUESTION_RULES = (
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
            f"(?:(?P<m2>{ZH_NUMBER})月)?(?P<d2>{ZH_NUMBER})[日号]", _days_of_months, "月"),
    Rule.of(f"{_WHOSE_YEAR}?(?<![\\d个])(?P<m1>{ZH_NUMBER})月?份?{_TO}(?P<m2>{ZH_NUMBER})月份?(?!{ZH_NUMBER}[日号])",
            _months, "月"),
    Rule.of(f"(?P<n>{ZH_NUMBER})(?:(?P<unit>年|周)半|个半(?P<unit2>月))(?:之|以)?前",
            _and_half, "半"),
    Rule.of("(?<![一二三四五六七八九十两\\d]年)半(?P<unit>年|(?=个月)个月)(?:之|以)?前",
            _half, "半"),
    Rule.of(f"(?:最近|过去|近|这)的?(?P<n>{ZH_NUMBER}|[几数半])个?{_UNIT}(?![前后])", _past_units,
            "近", "过去", "这"),
    Rule.of(f"(?P<n>{ZH_NUMBER}|[几数半])个?{_UNIT}(?:以来|来|之内|以内|内)", _past_units,
            "来", "内"),
    Rule.of("(?<![目先空])前(?:一?(?:段时间|阵子|段日子)|(?P<n>[几两些])(?:天|日子?))",
            _lately, "前"),
    Rule.of("最近(?!的?一[次回]|的?那[次回]|的(?:地铁|车|站|医院|学校|超市|餐|商|店|酒店|路|机场|银行))"
            "|近来|近期|近日|近况|这(?:阵子|段时间|段日子|些天|些日子)", _recent, "近", "这"),
    Rule.of("(?:上世纪|二十世纪|20世纪)?(?P<tens>\\d0|[一二三四五六七八九]十)年代",
            _decade, "年代"),
)  # fmt: skip
