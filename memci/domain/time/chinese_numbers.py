"""Counts and dates as Chinese writes them."""

from __future__ import annotations

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
YEAR = r"(?:\d{4}|[一二三四五六七八九][零〇一二三四五六七八九]{3})"


def number(text: str) -> int:
    """Return the value of what ``NUMBER`` or ``YEAR`` matched: 3, 三, 十五, 二十三, 二〇二三."""
    if text.isdecimal():
        return int(text)
    if "十" in text:
        tens, ones = text.split("十")
        return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)
    return int("".join(str(_DIGITS[each]) for each in text))
