"""What questions seldom name, and what cannot be (R10)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.language.question import analyse
from tests.support.asked_times import NOW, times

AT_THE_BEGINNING = datetime(1, 1, 1, 0, 30, tzinfo=UTC)
AT_THE_END = datetime(9999, 12, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("上个夏天我去了哪里？", "2022-06-01..2022-08-31"),
        ("6月20日到3月5日我在哪里？", "~2022-06-20..2023-03-05"),
        ("2022年6月到3月我在哪里？", "2022-06-01..2023-03-31"),
        ("What did we do the month before May 2022?", "2022-04-01..2022-04-30"),
        ("What will I get next Christmas?", "2023-12-25"),
        ("What will I get this Christmas?", "2023-12-25"),
        ("What did we do from 9 to 7 May 2022?", "2022-05-07"),
        ("What broke on 31/31/2022?", ""),
        ("What broke on 30/2/2022?", ""),
        ("What did I do on February 30th?", "~2023-02-01..2023-02-28"),
        ("Where was Ann The in May?", "~2023-05-01..2023-05-31"),
    ],
)
def test_what_times_a_question_names(question: str, expected: str) -> None:
    assert " ".join(times(question)) == expected


@pytest.mark.parametrize("question", ["What did I say two hours ago?", "刚才我说了什么？"])
def test_nothing_was_before_the_calendar(question: str) -> None:
    assert times(question, AT_THE_BEGINNING) == []


def test_a_range_may_end_with_the_calendar() -> None:
    (only,) = analyse("What did I say today?", AT_THE_END).times

    assert only.until is None
    assert analyse("What did I say the day after 9999-12-31?", AT_THE_END).times != ()


@pytest.mark.parametrize("question", ["半小时前我说了什么？", "What did I say a few hours ago?"])
def test_rough_hours(question: str) -> None:
    (only,) = analyse(question, NOW).times

    assert only.since is not None
    assert only.until is not None
    assert only.since < only.until <= NOW


def test_of_a_long_text_both_ends_are_read() -> None:
    found = analyse("When did Ann move? " + "x " * 5_000 + "Was it in May 2022?", NOW)

    assert found.entities == ("Ann",)
    assert len(found.times) == 1
