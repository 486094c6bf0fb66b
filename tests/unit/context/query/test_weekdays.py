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
]


@pytest.mark.parametrize(("question", "expected"), [*COUNTED, *BETWEEN])
def test_what_days_a_question_names(question: str, expected: str) -> None:
    assert times(question) == [expected]


def test_two_weekdays_are_two_days() -> None:
    assert times("Did I run on Monday and Wednesday?") == ["2023-05-08", "2023-05-03"]


@pytest.mark.parametrize("day", range(1, 12))
def test_no_day_is_before_the_calendar(day: int) -> None:
    now = datetime(1, 1, day, tzinfo=UTC)
    for question in ("What happened from Monday to Wednesday?", "What did I say two Fridays ago?"):
        assert all(each.startswith("0001-01-") for each in times(question, now))
