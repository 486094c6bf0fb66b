"""Times that English questions name, and words that only look like them (R10)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.language.question.analysis import analyse
from tests.support.question_times import NOW, times

DATES = [
    ("What happened on 2023-05-08?", "2023-05-08"),
    ("What was said at 2023-05-08T14:30?", "2023-05-08"),
    ("What did I eat on May 8, 2022?", "2022-05-08"),
    ("What did I eat on May 8th, 2022?", "2022-05-08"),
    ("Who came on 8 May 2022?", "2022-05-08"),
    ("who came on 8 may 2022?", "2022-05-08"),
    ("Who came on the 8th of May, 2022?", "2022-05-08"),
    ("Where was it taken on December 1,2022?", "2022-12-01"),
    ("What broke on 15/8/2022?", "2022-08-15"),
    ("What broke on 8/15/22?", "2022-08-15"),
    ("What broke on 15.8.2022?", "2022-08-15"),
    ("What did we plan in 2022/04?", "2022-04-01..2022-04-30"),
    ("Where did he go in May 2022?", "2022-05-01..2022-05-31"),
    ("where did he go in may 2022?", "2022-05-01..2022-05-31"),
    ("Where did he go in May of last year?", "2022-05-01..2022-05-31"),
    ("What did they do in 2021?", "2021-01-01..2021-12-31"),
    ("What are my 2023 plans?", "2023-01-01..2023-12-31"),
    ("What did she paint in early June 2022?", "2022-06-01..2022-06-10"),
    ("Which classes did he join in mid-August 2022?", "2022-08-11..2022-08-20"),
    ("What happened at the end of February 2022?", "2022-02-21..2022-02-28"),
    ("What did I learn in late 2022?", "2022-09-01..2022-12-31"),
    ("What did I sell in Q2 2022?", "2022-04-01..2022-06-30"),
    ("What did I sell in the third quarter of 2022?", "2022-07-01..2022-09-30"),
    ("What did we do in the first week of May 2022?", "2022-05-01..2022-05-07"),
    ("Where were we on the first Monday of June 2022?", "2022-06-06"),
    ("Where were we on the last Sunday of June 2022?", "2022-06-26"),
    ("Where were we on the last Friday in March 2023?", "2023-03-31"),
    ("Where did we go in the summer of 2022?", "2022-06-01..2022-08-31"),
    ("Where did we go in winter 2021?", "2021-12-01..2022-02-28"),
    ("What music did she like in the 1990s?", "1990-01-01..1999-12-31"),
]
WITHOUT_A_YEAR = [
    ("What did I do in May?", "~2023-05-01..2023-05-31"),
    ("what did i do in may?", "~2023-05-01..2023-05-31"),
    ("When did she go camping in June?", "~2022-06-01..2022-06-30"),
    ("What was the July tournament like?", "~2022-07-01..2022-07-31"),
    ("What did they give him on Aug 15th?", "~2022-08-15"),
    ("What did they give him on May 8?", "~2023-05-08"),
    ("what did they give him on may 8th?", "~2023-05-08"),
    ("Where were you in early June?", "~2022-06-01..2022-06-10"),
    ("Where were you in the second week of November?", "~2022-11-08..2022-11-14"),
    ("What are her plans for the summer?", "~2022-06-01..2022-08-31"),
    ("What did we sell in the second quarter?", "~2023-04-01..2023-06-30"),
    ("What did I get for Christmas?", "~2022-12-25"),
    ("Where were we on New Year's Eve?", "~2022-12-31"),
]
RELATIVE = [
    ("What did I say today?", "2023-05-09"),
    ("What did I say yesterday?", "2023-05-08"),
    ("What did I say the day before yesterday?", "2023-05-07"),
    ("What did we talk about last night?", "2023-05-08"),
    ("What do I have to do tomorrow?", "2023-05-10"),
    ("What did I do last Monday?", "2023-05-08"),
    ("what did i do on monday?", "2023-05-08"),
    ("What happens next Friday?", "2023-05-12"),
    ("What did I do last week?", "2023-05-01..2023-05-07"),
    ("What do I have this week?", "2023-05-08..2023-05-14"),
    ("What is planned for next week?", "2023-05-15..2023-05-21"),
    ("What did I do on Monday of last week?", "2023-05-01"),
    ("What did I do last weekend?", "2023-05-06..2023-05-07"),
    ("What did I do last month?", "2023-04-01..2023-04-30"),
    ("What did I do this year?", "2023-01-01..2023-12-31"),
    ("What did I do last year?", "2022-01-01..2022-12-31"),
    ("Where did we go last summer?", "2022-06-01..2022-08-31"),
    ("Where did we go last May?", "2022-05-01..2022-05-31"),
    ("What did he do three days ago?", "2023-05-06"),
    ("What did he do two weeks ago?", "2023-04-22..2023-04-28"),
    ("What did he do three months ago?", "2023-02-01..2023-02-28"),
    ("What did he do one year ago?", "2022-05-01..2022-05-31"),
    ("What did he do twenty years ago?", "2003-01-01..2003-12-31"),
    ("What did he do half a year ago?", "2022-11-01..2022-11-30"),
    ("What did he do a year and a half ago?", "2021-11-01..2021-11-30"),
    ("What did he do two and a half years ago?", "2020-11-01..2020-11-30"),
    ("What did he do a decade ago?", "2013-01-01..2013-12-31"),
    ("What did he do in the past three months?", "2023-02-09..2023-05-09"),
    ("What did he do these last few days?", "2023-05-05..2023-05-09"),
    ("What is on in the next two weeks?", "2023-05-09..2023-05-23"),
    ("What did you tell me the other day?", "2023-05-02..2023-05-08"),
    ("What did you tell me a couple of weeks ago?", "2023-04-18..2023-05-02"),
    ("What did you tell me a couple of days ago?", "2023-05-06..2023-05-08"),
    ("What did you tell me a few days ago?", "2023-05-02..2023-05-07"),
    ("What did I do at the end of last month?", "2023-04-21..2023-04-30"),
    ("What did I do at the start of last week?", "2023-05-01..2023-05-02"),
    ("What did I do at the beginning of the year?", "2023-01-01..2023-04-30"),
    ("What did I do late last year?", "2022-09-01..2022-12-31"),
    ("Was I late this week?", "2023-05-08..2023-05-14"),
    ("Which invoices were paid late last month?", "2023-04-01..2023-04-30"),
    ("What did I do in the first half of last year?", "2022-01-01..2022-06-30"),
    ("What did I get last Christmas?", "2022-12-25"),
    ("What did I get for Christmas 2021?", "2021-12-25"),
    ("Where were we on the 4th of July, 2022?", "2022-07-04"),
    ("Who cooked at Thanksgiving last year?", "2022-11-24"),
    ("What did I write on Mother's Day 2022?", "2022-05-08"),
]
RANGES = [
    ("What have I done since March?", "2023-03-01.."),
    ("What has changed since 2021?", "2021-01-01.."),
    ("What did we do before June 2022?", "..2022-05-31"),
    ("What did we do until June 2022?", "..2022-06-30"),
    ("What had we done by May 2022?", "..2022-05-31"),
    ("What did we do after 8 May 2022?", "2022-05-09.."),
    ("What did we do between March and June 2022?", "2022-03-01..2022-06-30"),
    ("What did we do between March and June?", "~2022-03-01..2022-06-30"),
    ("What did we do from November to February?", "~2022-11-01..2023-02-28"),
    ("What did we do from December 2021 to March?", "2021-12-01..2022-03-31"),
    ("What did we do between 2019 and 2021?", "2019-01-01..2021-12-31"),
    ("What did we do in 2019-2021?", "2019-01-01..2021-12-31"),
    ("What did we do from 5 to 7 May 2022?", "2022-05-05..2022-05-07"),
    ("What did we do from March 5 to March 9?", "~2023-03-05..2023-03-09"),
    ("What did we do from March 5 to 9, 2022?", "2022-03-05..2022-03-09"),
    ("What did we do between 8 May 2022 and 3 June 2022?", "2022-05-08..2022-06-03"),
    ("What happened the week before 9 June 2022?", "2022-06-02..2022-06-08"),
    ("What happened the weekend of 15 July 2022?", "2022-07-16..2022-07-17"),
    ("What happened the week of May 8, 2022?", "2022-05-02..2022-05-08"),
    ("What happened the day after May 8, 2022?", "2022-05-09"),
    ("What happened the Friday before 15 July 2022?", "2022-07-08"),
    ("What happened two weeks before 5 May 2022?", "2022-04-18..2022-04-24"),
    ("What did she do last weekend before April 10, 2022?", "2022-04-09..2022-04-10"),
    ("What happened around 8 May 2022?", "2022-05-08"),
    ("What did he fear last week, as mentioned on November 6, 2022?",
     "2022-10-24..2022-10-30 2022-11-06"),
]  # fmt: skip
AMBIGUOUS = [
    ("What broke on 5/8/2022?", "2022-05-08 2022-08-05"),
    ("What broke on 5/8?", "~2023-05-08 ~2022-08-05"),
    ("What did I do in March and in June 2022?", "~2023-03-01..2023-03-31 2022-06-01..2022-06-30"),
]
NO_TIMES = [
    "May I ask you something?",
    "may i ask you something?",
    "What may happen?",
    "Who did they march on?",
    "Who led the march on Washington?",
    "What was the second thing that he said?",
    "Is it version 1.2.2023 or 3.10?",
    "Is it version 2.5.1?",
    "Did it cost $5/8 or 5/8 of it?",
    "How many of the 2000 dollars are left?",
    "Do we meet every Monday?",
    "What does she do on Mondays?",
    "Where does April live?",
    "What did May say to June?",
    "Does he like autumn leaves?",
    "What is in `2022-05-08.log`?",
    "What is at https://example.org/2022-05-08?",
    "Did he fall?",
    "When is the rent due, at the end of the month?",
    "Who scored in the second half of the match?",
    "Is room 2022 free?",
    "What is the ratio of 3/4 to 5/8?",
]
ALL = [*DATES, *WITHOUT_A_YEAR, *RELATIVE, *RANGES, *AMBIGUOUS]


@pytest.mark.parametrize(("question", "expected"), ALL)
def test_the_times_of_a_question_are_found(question: str, expected: str) -> None:
    assert " ".join(times(question)) == expected


@pytest.mark.parametrize("question", NO_TIMES)
def test_words_that_only_look_like_a_time_are_ignored(question: str) -> None:
    assert times(question) == []


FIRST_DAY = datetime(1, 1, 1, 0, 30, tzinfo=UTC)
LAST_DAY = datetime(9999, 12, 31, 12, tzinfo=UTC)


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
def test_unusual_times_of_questions_are_found(question: str, expected: str) -> None:
    assert " ".join(times(question)) == expected


@pytest.mark.parametrize("question", ["What did I say two hours ago?", "刚才我说了什么？"])
def test_a_time_before_the_calendar_is_ignored(question: str) -> None:
    assert times(question, FIRST_DAY) == []


def test_a_range_may_end_on_the_last_day_of_the_calendar() -> None:
    (only,) = analyse("What did I say today?", LAST_DAY).times

    assert only.until is None
    assert analyse("What did I say the day after 9999-12-31?", LAST_DAY).times != ()


@pytest.mark.parametrize("question", ["半小时前我说了什么？", "What did I say a few hours ago?"])
def test_an_approximate_number_of_hours_gives_a_range(question: str) -> None:
    (only,) = analyse(question, NOW).times

    assert only.since is not None
    assert only.until is not None
    assert only.since < only.until <= NOW


def test_both_ends_of_a_long_text_are_read() -> None:
    found = analyse("When did Ann move? " + "x " * 5_000 + "Was it in May 2022?", NOW)

    assert found.entities == ("Ann",)
    assert len(found.times) == 1
