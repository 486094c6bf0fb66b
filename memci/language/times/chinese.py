"""Chinese expressions of time. Weeks begin on Monday, and 上周五 is the Friday of last week.

Chinese writes no blanks, so each word is also looked at from both sides: 目前天气 has no 前天.

When a Chinese expression does not mean what its words say: titles, ideals, generic talk.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from memci.language.times import calendar
from memci.language.times.absolute_dates import nearest
from memci.language.times.calendar import YEAR, ZH_NUMBER, chinese_number
from memci.language.times.rules import Reading, Rule, sentence_around, unsure

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
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_WEEKS = ("周", "星期", "礼拜")
_WEEK = f"(?:{'|'.join(_WEEKS)})"
_NOT_A_WEEK = "(?![期围边年转游遭密刚长身折济旋知岁末一二三四五六日天])"
_NOT_A_YEAR = "(?![轻代龄级纪度])"
_SATURDAY = 5
_WEEKDAYS = "一二三四五六日"

_DAYS = {"大前天": -3, "前天": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "大后天": 3}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "大后年": 3}
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week"}
_UNITS |= {"月": "month", "年": "year"}


def _day(match: re.Match[str], said: date) -> Reading:
    return calendar.day(said, _DAYS[match["day"]])


def _week(match: re.Match[str], said: date) -> Reading:
    return calendar.week(said, _STEPS[match["step"]])


def _weekend(match: re.Match[str], said: date) -> Reading:
    return calendar.weekend(said, _STEPS[match["step"]])


def _index(character: str) -> int:
    return _WEEKDAYS.index(character.replace("天", "日"))


def _weekday(match: re.Match[str], said: date) -> Reading:
    return calendar.weekday(said, _STEPS[match["step"]], _index(match["day"]))


def _bare_weekday(match: re.Match[str], said: date) -> Reading:
    return unsure(calendar.day(said, -((said.weekday() - _index(match["day"])) % 7)))


def _bare_weekend(_match: re.Match[str], said: date) -> Reading:
    return unsure(calendar.weekend(said, -(said.weekday() < _SATURDAY)))


def _month(match: re.Match[str], said: date) -> Reading:
    found = calendar.month(said, _STEPS[match["step"]])
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
    found = calendar.distant(said, _UNITS[match["unit"]], -count if back else count)
    # 两周后 may as well be counted from the day of the story.
    return unsure(found, sure=back)


def _vague(match: re.Match[str], said: date) -> Reading:
    near, far = (calendar.rolling(said, _UNITS[match["unit"]], -count).first for count in (2, 7))
    return unsure(calendar.period(far, near))


def _rolling(match: re.Match[str], said: date) -> Reading:
    return calendar.rolling(said, _UNITS[match["unit"]], -chinese_number(match["n"]))


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
        return nearest(said, chinese_number(match["m"]), chinese_number(match["d"]), told)
    month = chinese_number(match["m"])
    return unsure(calendar.month_of(said.year - (month > said.month), month))


_MONTH_AND_DAY = f"(?P<m>{ZH_NUMBER})月(?:份|(?P<d>{ZH_NUMBER})[日号])?"
_COUNTED = f"(?P<n>{ZH_NUMBER})(?:个)?(?P<unit>天|周|星期|礼拜|(?<=个)月|年)"
_LONE = "(?<![几数多百千万第零半十两一二三四五六七八九\\d.])"

RULES = (
    Rule.of(
        f"{_FREE}(?P<day>大?前天|大?后天){_PART}(?![天气空努形养性环培因教获免习然])",
        _day,
        "前天",
        "后天",
    ),
    Rule.of(f"(?P<day>昨)(?:[天日儿]|晚|夜){_PART}(?!重现)", _day, "昨"),
    Rule.of(
        f"(?<![如当现至])(?P<day>今)(?:[天日儿]|晚|早|晨|夜){_PART}(?!头条|说法|之)", _day, "今"
    ),
    Rule.of(
        f"{_MING}(?P<day>明)(?:[天日儿]|晚|早|晨){_PART}(?!天(?!气)|之|方舟)",
        _day,
        "明",
    ),
    Rule.of(f"{_STEP}{_WEEK}{_NOT_A_WEEK}", _week, *_WEEKS),
    Rule.of(f"{_STEP}{_WEEK}末", _weekend, "末"),
    Rule.of(f"{_STEP}{_WEEK}(?P<day>[一二三四五六日天]){_PART}", _weekday, *_WEEKS),
    Rule.of(
        f"(?<![上下这本每个]){_WEEK}(?P<day>[一二三四五六日天])(?![个报]){_PART}",
        _bare_weekday,
        *_WEEKS,
    ),
    Rule.of("(?<![上下这本每个])周末", _bare_weekend, "末"),
    Rule.of(f"{_STEP}月(?:份|(?P<d>{ZH_NUMBER})[日号])?(?![亮光饼球台经])", _month, "月"),
    Rule.of(
        f"{_FREE}(?P<year>大?前年|大?后年)(?:的?{_MONTH_AND_DAY})?{_NOT_A_YEAR}",
        _year,
        "年",
    ),
    Rule.of(
        f"(?P<year>(?<!过)去年|(?<![如当现至])今年|{_MING}明年)"
        f"(?:的?{_MONTH_AND_DAY})?{_NOT_A_YEAR}",
        _year,
        "年",
    ),
    Rule.of(f"{_LONE}{_COUNTED}(?P<side>之前|以前|前)(?![后往进途台夕])", _distant, "前"),
    Rule.of(f"{_LONE}{_COUNTED}(?P<side>之后|以后|后)(?![来续面辈裔])", _distant, "后"),
    Rule.of(
        "(?<![十百千])[几数]十?个?(?P<unit>天|周|星期|礼拜|月|年)(?:之前|以前|前)", _vague, "前"
    ),
    Rule.of(f"(?:最近|过去|近)的?{_COUNTED}", _rolling, "近", "过去"),
)

DATES = (
    Rule.of(
        f"(?<![\\d.])(?P<year>{YEAR})年(?P<m>{ZH_NUMBER})月(?P<d>{ZH_NUMBER})[日号]"
        f"(?:至|到|[-–—~～])(?:(?P<y2>{YEAR})年)?(?:(?P<m2>{ZH_NUMBER})月)?(?P<d2>{ZH_NUMBER})[日号]",
        _days,
        "年",
    ),
    Rule.of(f"(?<![\\d.])(?P<year>{YEAR})年(?:{_MONTH_AND_DAY})?", _full, "年"),
    Rule.of(
        "(?:(?<![\\d.年个零〇一二三四五六七八九十两几多这上下])|(?<=一下))" + _MONTH_AND_DAY,
        _without_year,
        "月",
    ),
)


_IDEAL = re.compile(r"(?:美好|的|没有|新)\Z")
_TITLE = re.compile(r"会更好|依旧")
_GENERIC = re.compile(r"的(?:社会|世界|中国|时代|年轻人|孩子|生活|青年|幸福|我们|你|我)")
_RELATIVE_TO_AN_EVENT = re.compile(r"[^\W\d_a-zA-Z]\Z")
_MAY_STAND_BEFORE_A_COUNT = re.compile(r"[我你他她它们在是从早于自大约概就了的，]\Z")


def doubtful(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Tell whether a Chinese expression may be an ideal, generic, or counted from an event."""
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
