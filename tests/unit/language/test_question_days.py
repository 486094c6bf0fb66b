"""Days without a month, weekdays with dates, counted weekdays and ranges of days (R10)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.language.question.analysis import analyse
from tests.support.question_times import NOW, times

# Asked on Tuesday, 9 May 2023.
WITH_A_WEEKDAY = [
    ("What did we say on Wednesday the 3rd?", "2023-05-03"),
    ("What did we say on Wednesday, the 3rd?", "2023-05-03"),
    ("What happened on Friday the 13th?", "2023-01-13"),
    ("What did I plan for Saturday the 20th?", "2023-05-20"),
    ("星期三3号我说了什么？", "2023-05-03"),
    ("3号（星期三）我说了什么？", "2023-05-03"),
    ("二十号星期六有什么安排？", "2023-05-20"),
]
DAY_ALONE = [
    ("What did I say on the 3rd?", "2023-05-03"),
    ("On the 3rd, what did I say?", "2023-05-03"),
    ("What did I say on the 30th?", "2023-04-30"),
    ("What did I say on the 31st?", "2023-03-31"),
    ("On the 3rd of this month, what did I say?", "2023-05-03"),
    ("What did I say on the 3rd of last month?", "2023-04-03"),
    ("3号我说了什么？", "2023-05-03"),
    ("我在二十号那天去了哪里？", "2023-04-20"),
]
FROM_TO = [
    ("What did we do between the 3rd and the 5th?", "2023-05-03..2023-05-05"),
    ("What did we do from the 28th to the 2nd?", "2023-04-28..2023-05-02"),
    ("What did we do from the 20th to 25th?", "2023-04-20..2023-04-25"),
    ("What did we do between the 3rd and the 5th of March?", "~2023-03-03..2023-03-05"),
    ("3号到5号我们做了什么？", "2023-05-03..2023-05-05"),
    ("What did we do from the 5th to the 9th of last month?", "2023-04-05..2023-04-09"),
    ("What did we do from Wednesday the 3rd to Friday the 5th?", "2023-05-03..2023-05-05"),
    ("这个月3号到5号我们做了什么？", "2023-05-03..2023-05-05"),
    ("二十八号至二号之间我们做了什么？", "2023-04-28..2023-05-02"),
]
WITH_A_DATE = [
    ("What did we do on Tuesday, 2 May 2023?", "2023-05-02"),
    ("What did we do on Friday 2 May 2023?", "2023-05-02"),
    ("What did we do on 2 May 2023 (Tuesday)?", "2023-05-02"),
    ("What did we do on Tuesday the 2nd of May, 2023?", "2023-05-02"),
    ("What did we do on Tue 2 May 2023?", "2023-05-02"),
    ("What did we do on Tue, 2 May?", "~2023-05-02"),
    ("2023年5月2日星期二我们做了什么？", "2023-05-02"),
    ("四月三号和五号我们做了什么？", "~2023-04-03"),
    ("上个月3号到5号我做了什么？", "2023-04-03..2023-04-05"),
    ("What did I do on the 3rd of April?", "~2023-04-03"),
    ("What did I do on the 3rd, in April?", "~2023-04-01..2023-04-30"),
    ("Who spoke in the Friday 1st session?", "2023-05-05"),
    ("周六2号会议室有人吗？", "2023-05-06"),
]
NO_DAYS = [
    "Who lives on the 11th floor?",
    "Did it work on the 2nd try?",
    "Was I there for the 3rd time?",
    "坐11号线去哪里？",
    "谁住在3号房间？",
    "谁穿10号球衣？",
    "Who sat 3rd in the exam?",
    "Was it on the 3rd or 4th floor?",
    "谁是3号？",
    "坐2号到人民广场要多久？",
    "从3号到5号楼怎么走？",
    "Who was between the 3rd and the 5th place?",
    "What is the difference between the 1st and the 2nd?",
    "1号到3号柜子里有什么？",
    "3号和5号线怎么走？",
    "我的学号是12号，你记得吗？",
    "这本书五日我能读完吗？",
    "廿一号他来吗？",
]
ALL = [*WITH_A_WEEKDAY, *DAY_ALONE, *FROM_TO, *WITH_A_DATE]


@pytest.mark.parametrize(("question", "expected"), ALL)
def test_the_day_of_a_question_is_found(question: str, expected: str) -> None:
    assert times(question) == [expected]


@pytest.mark.parametrize("question", NO_DAYS)
def test_words_that_only_look_like_a_day_are_ignored(question: str) -> None:
    assert times(question) == []


def test_a_weekday_apart_from_a_date_is_another_day() -> None:
    assert times("What changed between 2 May 2023 and Monday?") == ["2023-05-02..2023-05-08"]
    assert times("Did I run on Monday or on 2 May 2023?") == ["2023-05-08", "2023-05-02"]


@pytest.mark.parametrize("year", [1, 9999])
def test_days_at_the_ends_of_the_calendar(year: int) -> None:
    now = datetime(year, 1 if year == 1 else 12, 9, tzinfo=UTC)
    assert times("What did I say on the 8th?", now) == [now.replace(day=8).date().isoformat()]
    assert len(times("What did I say on Friday the 13th?", now)) == 1


@pytest.mark.parametrize("day", ["2 May 2023", "Tue, 2 May 2023", "Tuesday the 2nd"])
def test_a_question_with_only_a_day_is_recognised(day: str) -> None:
    assert analyse(f"What happened on {day}?", NOW).only_times


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
def test_counted_weekdays_and_ranges_are_found(question: str, expected: str) -> None:
    assert times(question) == [expected]


def test_two_weekdays_are_two_days() -> None:
    assert times("Did I run on Monday and Wednesday?") == ["2023-05-08", "2023-05-03"]


def test_a_named_week_applies_to_both_ends_of_a_range() -> None:
    friday = datetime(2023, 5, 12, tzinfo=UTC)
    assert times("本周五到周日有什么安排？", friday) == ["2023-05-12..2023-05-14"]
    assert times("上周一到周五我做了什么？", friday) == ["2023-05-01..2023-05-05"]


def test_a_habit_is_no_range() -> None:
    assert times("Do we meet every Monday to Friday?") == []


@pytest.mark.parametrize("day", range(1, 12))
def test_no_found_day_is_before_the_calendar(day: int) -> None:
    now = datetime(1, 1, day, tzinfo=UTC)
    for question in ("What happened from Monday to Wednesday?", "What did I say two Fridays ago?"):
        assert all(each.startswith("0001-01-") for each in times(question, now))
