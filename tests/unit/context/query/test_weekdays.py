"""Days of the week that are counted back, and stretches between two (R10)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support.asked_times import times

# Asked on Tuesday, 9 May 2023.
COUNTED = [
    ("What did I say two Fridays ago?", "2023-04-28"),
    ("What did I say two Tuesdays ago?", "2023-04-25"),
    ("What did I say three Mondays ago?", "2023-04-24"),
    ("What did we do the Wednesday before last?", "2023-04-26"),
    ("What did we do on the Tuesday before last?", "2023-04-25"),
    ("What did we do the Wednesday before last Christmas?", "2022-12-21"),
    ("The Tuesday before last my dog was ill.", "2023-04-25"),
    ("两周前的周五我说了什么？", "2023-04-28"),
    ("一个星期前的星期天我说了什么？", "2023-05-07"),
]
BETWEEN = [
    ("What happened from Monday to Wednesday?", "2023-05-01..2023-05-03"),
    ("What happened between Friday and Monday?", "2023-05-05..2023-05-08"),
    ("What happened from Monday to Tuesday?", "2023-05-08..2023-05-09"),
    ("What happened from last Friday until yesterday?", "2023-05-05..2023-05-08"),
    ("周一到周三发生了什么？", "2023-05-01..2023-05-03"),
    ("周五到周一之间发生了什么？", "2023-05-05..2023-05-08"),
    ("What is on from this Monday to Friday?", "2023-05-08..2023-05-12"),
    ("What is on from next Friday to Sunday?", "2023-05-12..2023-05-14"),
    ("What is on between this Friday and Sunday?", "2023-05-12..2023-05-14"),
    ("这周一到周五有什么安排？", "2023-05-08..2023-05-12"),
    ("下周一到周三有什么安排？", "2023-05-15..2023-05-17"),
    ("What happened from last Tuesday to Tuesday?", "2023-05-02..2023-05-09"),
    ("上周一到周五我做了什么？", "2023-05-01..2023-05-05"),
]


@pytest.mark.parametrize(("question", "expected"), [*COUNTED, *BETWEEN])
def test_what_days_a_question_names(question: str, expected: str) -> None:
    assert times(question) == [expected]


def test_two_weekdays_are_two_days() -> None:
    assert times("Did I run on Monday and Wednesday?") == ["2023-05-08", "2023-05-03"]


def test_of_a_week_that_is_told_the_rest_of_a_stretch_is_too() -> None:
    friday = datetime(2023, 5, 12, tzinfo=UTC)
    assert times("本周五到周日有什么安排？", friday) == ["2023-05-12..2023-05-14"]
    assert times("上周一到周五我做了什么？", friday) == ["2023-05-01..2023-05-05"]


def test_a_habit_is_no_stretch() -> None:
    assert times("Do we meet every Monday to Friday?") == []


@pytest.mark.parametrize("day", range(1, 12))
def test_no_day_is_before_the_calendar(day: int) -> None:
    now = datetime(1, 1, day, tzinfo=UTC)
    for question in ("What happened from Monday to Wednesday?", "What did I say two Fridays ago?"):
        assert all(each.startswith("0001-01-") for each in times(question, now))
