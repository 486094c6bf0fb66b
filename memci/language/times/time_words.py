"""Parts of an expression of time: numbers, months, weekdays and units, in words or figures."""

import re
from datetime import date

from memci.language.times.calendar import WEEKDAYS
from memci.language.times.text_around import sentence_around

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_CHINESE_WEEKDAYS = "一二三四五六日"
# Steps from this week, month or year.
STEPS = {"last": -1, "this": 0, "next": 1}
STEPS |= {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
STEPS |= {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "大后年": 3}
UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "周末": "weekend"}
UNITS |= {"月": "month", "个月": "month", "年": "year", "night": "day"}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL_WORDS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_NUMBERS = {word: value for value, word in enumerate(_SMALL_WORDS.split(), 1)} | {"a": 1, "an": 1}
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}


def number(words: str) -> int:
    """Return the value of "3", "3rd", "a", "twenty-one", 三, 十五, 二十三, 二〇二三."""
    if words[0].isdecimal():
        return int(words.rstrip("stndrh"))
    if words.isascii():
        return sum(_NUMBERS[word] for word in re.split(r"[\s-]+", words.lower()))
    if "十" in words:
        tens, ones = words.split("十")
        return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)
    return int("".join(str(_DIGITS[each]) for each in words))


class Parts:
    """The named groups of a match, in lower case. A missing group raises KeyError."""

    def __init__(self, match: re.Match[str]) -> None:
        self.match = match
        self._groups = {name: text.lower() for name, text in match.groupdict().items() if text}

    def __contains__(self, name: str) -> bool:
        """Return True if a group matched something."""
        return name in self._groups

    def text(self, name: str) -> str:
        """Return a group; "" if there is none."""
        return self._groups.get(name, "")

    def either(self, first: str, last: str) -> tuple[str, str]:
        """Return the names of two groups; a missing one is replaced by the other."""
        return (first if first in self else last, last if last in self else first)

    def number(self, name: str, *, default: int | None = None) -> int:
        """Return the number in a group."""
        if default is not None and name not in self:
            return default
        return number(self._groups[name])

    def ordinal(self, name: str) -> int:
        """Return 1 for "first", "1st", 一; -1 for "last"."""
        return _ORDINALS.get(self._groups[name]) or self.number(name)

    def month(self, name: str) -> int:
        """Return 1 to 12."""
        text = self._groups[name]
        if text.isascii() and not text.isdecimal():
            return next(at for at, each in enumerate(MONTHS, 1) if each.startswith(text[:3]))
        return number(text)

    @property
    def weekday(self) -> int:
        """Return 0 (Monday) to 6 (Sunday)."""
        text = self._groups["w"].replace("天", "日")
        if text in _CHINESE_WEEKDAYS:
            return _CHINESE_WEEKDAYS.index(text)
        return next(at for at, each in enumerate(WEEKDAYS) if each.startswith(text[:3]))

    @property
    def unit(self) -> str:
        """Return the unit in English."""
        text = self.text("unit") or self.text("unit2")
        return UNITS.get(text, text)

    @property
    def step(self) -> int:
        """Return the step from this week, month or year; 0 without one."""
        return STEPS[self._groups["step"]] if "step" in self else 0

    @property
    def which(self) -> tuple[str, bool]:
        """Return last, this or next, and True if "past" or "coming" makes it unambiguous."""
        words = self._groups["which"].split()
        if len(words) > 1:
            return ("last" if words[-1] in {"past", "last"} else "next"), True
        return words[0], False

    def year(self, today: date) -> int | None:
        """Return the year of the groups ``year`` and ``whose``, or None."""
        if "year" in self:
            return self.number("year")
        return today.year + STEPS[self._groups["whose"]] if "whose" in self else None

    def year_or_this(self, today: date) -> int:
        """Return the year, or this one."""
        year = self.year(today)
        return today.year if year is None else year

    @property
    def sentence(self) -> str:
        """Return the sentence around the match, in lower case."""
        return sentence_around(self.match.string, *self.match.span())
