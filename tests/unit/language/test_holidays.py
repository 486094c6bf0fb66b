"""Holidays with another date each year: lunar holidays and Easter (R10)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memci.language.question.analysis import analyse
from memci.language.times.holidays import lunar_date
from tests.support.question_times import NOW, times

# The length of a lunar month in days; a new moon; the lunar day of each holiday.
MONTH, NEW_MOON = 29.530589, date(2000, 1, 6)
DAY_OF_MONTH = {
    "lunar_new_year": 1, "dragon_boat": 5, "qixi": 7, "mid_autumn": 15, "double_ninth": 9,
}  # fmt: skip
# Asked on Tuesday, 9 May 2023.
NAMED = [
    ("What did we do at Easter?", "2023-04-07..2023-04-10"),
    ("What did we do over Easter 2022?", "2022-04-15..2022-04-18"),
    ("What did we do last Easter?", "2023-04-07..2023-04-10"),
    ("What did we do on Easter Sunday 2025?", "2025-04-20"),
    ("What did we do on Good Friday?", "2023-04-07"),
    ("What did we do on Easter Monday 2024?", "2024-04-01"),
    ("Who came the week after Easter?", "2023-04-11..2023-04-17"),
    ("清明节那天我们做了什么？", "~2023-04-04..2023-04-06"),
    ("端午节我们去了哪里？", "2022-06-03..2022-06-05"),
    ("2024年中秋我们在哪里？", "2024-09-17..2024-09-19"),
    ("去年七夕他送了我什么？", "2022-08-04"),
    ("去年重阳节我去看了谁？", "2022-10-04"),
    ("元宵节谁来了？", "2023-02-05"),
    ("中秋收到了什么礼物？", "2022-09-10..2022-09-12"),
    ("清明天气如何？", "~2023-04-04..2023-04-06"),
    ("What did we do on Chinese New Year's Eve?", "2023-01-21"),
    ("清明前去了哪里？", "~2023-04-04..2023-04-06"),
    ("端午去哪了？", "2022-06-03..2022-06-05"),
    ("前年中秋我们在哪里？", "2021-09-21..2021-09-23"),
    ("Who came at Chinese New Year?", "2023-01-22..2023-01-28"),
    ("What did we eat at the Dragon Boat Festival last year?", "2022-06-03"),
    ("Where were we at the Mid-Autumn Festival?", "2022-09-10"),
]


@pytest.mark.parametrize(("question", "expected"), NAMED)
def test_the_dates_of_a_holiday_are_found(question: str, expected: str) -> None:
    assert times(question) == [expected]


NO_HOLIDAYS = [
    "Who hid the Easter eggs?", "When is the easter-egg hunt?", "Who lives in Easter Road?",
    "When was Orthodox Easter?", "清明上河图是谁画的？", "你能说清明细吗？", "请查清明细账。",
    "他神志清明白吗？", "高中秋游谁去了？", "其中秋天最美。", "他在前端午休吗？",
    "检测结果双重阳性吗？", "王重阳是谁？",
]  # fmt: skip


@pytest.mark.parametrize("question", NO_HOLIDAYS)
def test_words_that_only_look_like_a_holiday_are_ignored(question: str) -> None:
    assert times(question) == []


@pytest.mark.parametrize("question", ["What did Ann do on Good Friday?", "Who saw Ann at Easter?"])
def test_a_holiday_is_no_entity(question: str) -> None:
    assert analyse(question, NOW).entities == ("Ann",)


@pytest.mark.parametrize("holiday", DAY_OF_MONTH)
def test_a_lunar_date_fits_the_phase_of_the_moon(holiday: str) -> None:
    for year in range(2000, 2051):
        age = ((lunar_date(holiday, year) - NEW_MOON).days % MONTH) + 1
        off = abs(age - DAY_OF_MONTH[holiday])
        assert min(off, MONTH - off) < 2, (holiday, year)


@pytest.mark.parametrize("year", [1999, 2051])
def test_lunar_dates_of_other_years_are_not_known(year: int) -> None:
    for holiday in DAY_OF_MONTH:
        with pytest.raises(ValueError, match="not known"):
            lunar_date(holiday, year)


def test_lunar_holidays_of_a_year_are_in_order() -> None:
    for year in range(2000, 2051):
        days = [lunar_date(holiday, year) for holiday in DAY_OF_MONTH]
        assert days == sorted(days)
        assert days[-1] - days[0] < timedelta(300)
