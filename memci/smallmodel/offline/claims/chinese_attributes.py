"""Attributes of which there is one value at a time, and how their values look in Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable

DAY = (
    r"(?:\d|[一二三四五六七八九十]+(?:月|号|日|点)|(?:周|星期|礼拜)[一二三四五六日天末]|[今明后]天|月底|月初|"
    r"年底|年初|季度末)"
)


def _has(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern)
    return lambda value: bool(found.search(value))


LONGEST_VALUE = 10


def short(value: str) -> bool:
    """Tell whether a value is one or two words, and no clause."""
    return 0 < len(value) <= LONGEST_VALUE and not re.search(r"[的了是]", value)


ATTRIBUTES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "手机号码?|电话号码?|电话|手机": ("phone", _has(r"(?:\d[\s-]*){5}")),
    "邮箱地址|电子邮箱|邮箱|邮件地址": ("email", _has("@")),
    "家庭住址|住址|地址": ("address", _has(r"[路街道号区]|\d")),
    "生日|出生日期": ("birthday", _has(DAY)),
    "年龄": ("age", _has(r"[\d一二三四五六七八九十]")),
    "名字|姓名": ("name", short),
    "截止日期|截止时间|交付日期|上线日期|上线时间|发布日期|婚礼日期|最后期限": (
        "deadline",
        _has(DAY),
    ),
    "价格|售价|预算|房租|租金|工资|薪水|月薪|费用": ("price", _has(r"[\d百千万]")),
    "版本号?": ("version", _has(r"\d")),
    "状态": ("status", short),
}
NOUNS = "|".join(ATTRIBUTES)
# Two words for one thing.
SAME = {"结婚": "已婚", "离婚": "离异", "吃素": "素食"}
IS = (
    "(?:现在|目前|已经|已)*(?:是|为|改成了?|改为了?|改到了?|变成了?|变为了?|换成了?|调整为|调整到|定在|定为|定成|"
    "推迟到了?|延期到了?|延到了?|提前到了?|增加到了?|提高到了?|减少?到了?|降低到了?|涨到了?|涨到|降到了?|升到了?|更新为|更新到|：|:)"
)
