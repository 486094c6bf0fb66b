"""English expressions of time, and when they are certain."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from memci.language.times.calendar import Granularity
from memci.language.times.mentions import TimeMention, find_times

MONDAY = datetime(2023, 5, 8, 15, tzinfo=UTC)
TUESDAY, THURSDAY, SATURDAY, SUNDAY = (MONDAY + timedelta(days) for days in (1, 3, 5, 6))


def only(text: str, said_at: datetime = TUESDAY) -> TimeMention:
    (mention,) = find_times(text, said_at)
    return mention


def days(text: str, said_at: datetime = TUESDAY) -> tuple[str, str]:
    reading = only(text, said_at).reading
    return reading.first.isoformat(), reading.last.isoformat()


@pytest.mark.parametrize(
    ("text", "first", "last", "granularity"),
    [
        ("I ran yesterday.", "2023-05-08", "2023-05-08", Granularity.DAY),
        ("Today I rest.", "2023-05-09", "2023-05-09", Granularity.DAY),
        ("See you tomorrow evening", "2023-05-10", "2023-05-10", Granularity.DAY),
        ("What do we eat tonight?", "2023-05-09", "2023-05-09", Granularity.DAY),
        ("It rained last night.", "2023-05-08", "2023-05-08", Granularity.DAY),
        ("We met this morning", "2023-05-09", "2023-05-09", Granularity.DAY),
        ("It was the day before yesterday", "2023-05-07", "2023-05-07", Granularity.DAY),
        ("I leave the day after tomorrow", "2023-05-11", "2023-05-11", Granularity.DAY),
        ("I went to Porto last Friday", "2023-05-05", "2023-05-05", Granularity.DAY),
        ("Last Fri I slept", "2023-05-05", "2023-05-05", Granularity.DAY),
        ("She came last Tuesday night", "2023-05-02", "2023-05-02", Granularity.DAY),
        ("He starts next Monday", "2023-05-15", "2023-05-15", Granularity.DAY),
        ("I move this Friday", "2023-05-12", "2023-05-12", Granularity.DAY),
        ("We danced this past Saturday", "2023-05-06", "2023-05-06", Granularity.DAY),
        ("He returns the coming Sunday", "2023-05-14", "2023-05-14", Granularity.DAY),
        ("two days ago", "2023-05-07", "2023-05-07", Granularity.DAY),
        ("it ended 9 days ago", "2023-04-30", "2023-04-30", Granularity.DAY),
        ("twenty-five days ago", "2023-04-14", "2023-04-14", Granularity.DAY),
        ("ten days ago", "2023-04-28", "2023-04-30", Granularity.DAY),
        ("three days from now", "2023-05-12", "2023-05-12", Granularity.DAY),
        ("in 2 days' time", "2023-05-11", "2023-05-11", Granularity.DAY),
        ("We hiked last weekend", "2023-05-06", "2023-05-07", Granularity.WEEKEND),
        ("this past weekend was wild", "2023-05-06", "2023-05-07", Granularity.WEEKEND),
        ("the coming weekend", "2023-05-13", "2023-05-14", Granularity.WEEKEND),
        ("the weekend before last", "2023-04-29", "2023-04-30", Granularity.WEEKEND),
        ("two weekends ago", "2023-04-29", "2023-04-30", Granularity.WEEKEND),
        ("I was ill last week", "2023-05-01", "2023-05-07", Granularity.WEEK),
        ("this week is full", "2023-05-08", "2023-05-14", Granularity.WEEK),
        ("the week before last", "2023-04-24", "2023-04-30", Granularity.WEEK),
        ("the week after next", "2023-05-22", "2023-05-28", Granularity.WEEK),
        ("three weeks ago", "2023-04-15", "2023-04-21", Granularity.WEEK),
        ("it was last month", "2023-04-01", "2023-04-30", Granularity.MONTH),
        ("the month before last", "2023-03-01", "2023-03-31", Granularity.MONTH),
        ("next month", "2023-06-01", "2023-06-30", Granularity.MONTH),
        ("five months ago", "2022-12-01", "2022-12-31", Granularity.MONTH),
        ("about a year ago", "2022-05-01", "2022-05-31", Granularity.MONTH),
        ("we met last June", "2022-06-01", "2022-06-30", Granularity.MONTH),
        ("it ends next May", "2024-05-01", "2024-05-31", Granularity.MONTH),
        ("it rained this March", "2023-03-01", "2023-03-31", Granularity.MONTH),
        ("last year", "2022-01-01", "2022-12-31", Granularity.YEAR),
        ("the year after next", "2025-01-01", "2025-12-31", Granularity.YEAR),
        ("five years ago", "2018-01-01", "2018-12-31", Granularity.YEAR),
        ("the wedding is on July 21", "2023-07-21", "2023-07-21", Granularity.DAY),
        ("the deadline was moved to August 1", "2023-08-01", "2023-08-01", Granularity.DAY),
        ("I saw her on March 1", "2023-03-01", "2023-03-01", Granularity.DAY),
        ("My exam is in two weeks", "2023-05-20", "2023-05-26", Granularity.WEEK),
        ("We'll move in three days.", "2023-05-12", "2023-05-12", Granularity.DAY),
        ("it is on May 21", "2023-05-21", "2023-05-21", Granularity.DAY),
        ("since the 5th of May", "2023-05-05", "2023-05-05", Granularity.DAY),
    ],
)
def test_certain_times(text: str, first: str, last: str, granularity: Granularity) -> None:
    mention = only(text)

    assert days(text) == (first, last)
    assert mention.reading.granularity is granularity
    assert mention.certain


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("5 May 2023", "2023-05-05", "2023-05-05"),
        ("the 5th of May, 2023", "2023-05-05", "2023-05-05"),
        ("May 5, 2023", "2023-05-05", "2023-05-05"),
        ("Nov. 3rd 2022", "2022-11-03", "2022-11-03"),
        ("2023-05-05", "2023-05-05", "2023-05-05"),
        ("2023/5/5", "2023-05-05", "2023-05-05"),
        ("May 2023", "2023-05-01", "2023-05-31"),
        ("in may 2023", "2023-05-01", "2023-05-31"),
        ("since 2016", "2016-01-01", "2016-12-31"),
        ("1–7 May 2023", "2023-05-01", "2023-05-07"),
        ("November 5-6, 2022", "2022-11-05", "2022-11-06"),
        ("29 May–4 June 2023", "2023-05-29", "2023-06-04"),
        ("26 December 2022–1 January 2023", "2022-12-26", "2023-01-01"),
    ],
)
def test_full_dates_do_not_depend_on_the_day_of_speech(text: str, first: str, last: str) -> None:
    assert days(text, SUNDAY) == (first, last)
    assert only(text).reading.whole


@pytest.mark.parametrize(
    ("text", "said_at"),
    [
        ("last Friday", SATURDAY),  # yesterday, or eight days ago
        ("last Tuesday", THURSDAY),
        ("next Saturday", MONDAY),
        ("next Monday", SUNDAY),
        ("this Tuesday", SATURDAY),
        ("on Friday I went", TUESDAY),
        ("this weekend", MONDAY),  # or the one that has just ended
        ("next weekend", TUESDAY),
        ("two weekends ago", SUNDAY),
        ("the weekend before last", SUNDAY),
        ("last week", SUNDAY),  # a week may begin on Sunday
        ("next week", SUNDAY),
        ("last August", datetime(2023, 12, 8, tzinfo=UTC)),
        ("this March", datetime(2023, 12, 8, tzinfo=UTC)),
        ("last summer", TUESDAY),  # which hemisphere?
        ("last may", TUESDAY),
        ("a few days ago", TUESDAY),
        ("a couple of weeks ago", TUESDAY),
        ("over two years ago", TUESDAY),
        ("two or three weeks ago", TUESDAY),
        ("about two days ago", TUESDAY),
        ("in three weeks", TUESDAY),  # or how long it took
        ("I learned it in two weeks", TUESDAY),
        ("She can read it in two days", TUESDAY),
        ("I have been there twice in two weeks", TUESDAY),
        ("We got married on July 24", TUESDAY),  # probably of last year
        ("I will see her on March 1", TUESDAY),
        ("over the last month", TUESDAY),
        ("in the past three weeks", TUESDAY),
        ("this past week", TUESDAY),
        ("my last year of school", TUESDAY),
        ("last week of the course", TUESDAY),
        ("the last Friday", TUESDAY),
        ("in July we swim", TUESDAY),
        ("on December 24", TUESDAY),
        ("my birthday is on May 12", TUESDAY),
        ("we sang “Yesterday” then", TUESDAY),
        ('he said "I leave tomorrow"', TUESDAY),
        ("Yesterday Once More", TUESDAY),
        ("the film Tomorrow", TUESDAY),
        ("today's youth", TUESDAY),
        ("a better tomorrow", TUESDAY),
        ("I was not born yesterday", TUESDAY),
    ],
)
def test_uncertain_times(text: str, said_at: datetime) -> None:
    assert not only(text, said_at).certain


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did I do on Friday", "2023-05-05", "2023-05-05"),
        ("what happened in February", "2023-02-01", "2023-02-28"),
        ("what happened last summer", "2022-06-01", "2022-08-31"),
        ("who came last winter", "2022-12-01", "2023-02-28"),
        ("plans for next summer", "2024-06-01", "2024-08-31"),
        ("a few days ago", "2023-05-02", "2023-05-07"),
        ("in the last three weeks", "2023-04-18", "2023-05-09"),
        ("in the last month", "2023-04-09", "2023-05-09"),
        ("next weekend", "2023-05-20", "2023-05-21"),
        ("it took place on October 3", "2023-10-03", "2023-10-03"),
    ],
)
def test_an_uncertain_time_has_the_most_likely_days(text: str, first: str, last: str) -> None:
    said_at = datetime(2023, 8, 1, tzinfo=UTC) if text == "plans for next summer" else TUESDAY
    assert days(text, said_at) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "This may help, at last we talked next to the last of them.",
        "2.5 years ago, 4-5 weeks ago",
        "I have 5 may apples, march on, 12 marching bands",
        "Fridays are fun, sun and wed",
        "`last week` and ```\nyesterday\n``` and https://x.org/today?q=tomorrow me@today.com",
        "> yesterday I wrote",
        "2023-02-30, 31 April, at 12:30 May I come?",
        "999 years ago in the year 9999999",
        "",
    ],
)
def test_words_that_are_no_time(text: str) -> None:
    assert find_times(text, datetime(99, 5, 8, 15, tzinfo=UTC)) == []


def test_soon_after_midnight_today_is_uncertain() -> None:
    at_one = datetime(2023, 5, 9, 1, tzinfo=UTC)

    assert not only("I swam today", at_one).certain
    assert only("I swam last night", at_one).certain
    assert only("I swam today", at_one.replace(hour=0)).certain  # only the day may be known


def test_days_are_those_of_the_speakers_offset() -> None:
    here = datetime.fromisoformat("2023-05-09T07:00:00+08:00")

    assert only("I swam yesterday", here).reading.first == date(2023, 5, 8)
    assert only("I swam yesterday", here.astimezone(UTC)).reading.first == date(2023, 5, 7)


def test_mentions_are_in_order_with_their_positions() -> None:
    text = "昨天 I came, and the day after tomorrow I leave; May 5, 2023 was fine."
    found = find_times(text, TUESDAY)

    assert [each.text for each in found] == ["昨天", "the day after tomorrow", "May 5, 2023"]
    assert all(text[each.start : each.end] == each.text for each in found)
