"""Dates are added after the words that mean them (R4)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.language.times.mentions import add_date_notes

TUESDAY = datetime(2023, 5, 9, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "annotated"),
    [
        ("I went to Porto last Friday.", "I went to Porto last Friday (2023-05-05)."),
        ("It was last week!", "It was last week (1–7 May 2023)!"),
        ("Two weeks before last month", "Two weeks before last month (April 2023)"),
        ("last year's trip", "last year's (2022) trip"),
        ("three weeks ago", "three weeks ago (around 2023-04-18)"),
        ("ten days ago", "ten days ago (around 2023-04-29)"),
        ("a year ago", "a year ago (around May 2022)"),
        ("five years ago", "five years ago (around 2018)"),
        ("on May 21", "on May 21 (2023-05-21)"),
        ("The exam is in two weeks.", "The exam is in two weeks (around 2023-05-23)."),
        (
            "改到了7月20日，原来是5月28日",
            "改到了7月20日（2023-07-20），原来是5月28日（2023-05-28）",
        ),
        ("我上周五到的", "我上周五（2023-05-05）到的"),
        ("上周很忙", "上周（2023年5月1日–7日）很忙"),
        ("上个月搬家", "上个月（2023年4月）搬家"),
        ("去年毕业", "去年（2022年）毕业"),
        ("五年前", "五年前（约2018年）"),
        ("I said 昨天 yesterday", "I said 昨天（2023-05-08） yesterday (2023-05-08)"),
    ],
)
def test_dates_are_added_after_the_words(text: str, annotated: str) -> None:
    assert add_date_notes(text, TUESDAY) == annotated
    assert add_date_notes(annotated, TUESDAY) == annotated


@pytest.mark.parametrize(
    ("said_on", "english", "chinese"),
    [
        ("2023-06-06", "29 May–4 June 2023", "2023年5月29日–6月4日"),
        ("2023-01-03", "26 December 2022–1 January 2023", "2022年12月26日–2023年1月1日"),
    ],
)
def test_weeks_across_months_and_years(said_on: str, english: str, chinese: str) -> None:
    annotated = add_date_notes("last week, 上周", datetime.fromisoformat(said_on))

    assert annotated == f"last week ({english}), 上周（{chinese}）"
    assert add_date_notes(annotated, TUESDAY) == annotated


def test_a_repeated_expression_gets_its_date_once() -> None:
    text = "Last Friday I ran, and last Friday I swam."
    annotated = "Last Friday (2023-05-05) I ran, and last Friday I swam."

    assert add_date_notes(text, TUESDAY) == annotated
    assert add_date_notes(annotated, TUESDAY) == annotated


def test_days_of_one_sentence_without_a_year_are_all_dated_or_none() -> None:
    text = "改到了9月20日，原来是5月28日"
    apart = "改到了9月20日。原来是5月28日"

    assert add_date_notes(text, TUESDAY) == text
    assert add_date_notes(apart, TUESDAY) == f"{apart}（2023-05-28）"


@pytest.mark.parametrize(
    "text",
    [
        "a few days ago, in July, on Friday, 5 May 2023, 2023年5月3日, 周五",
        "last Friday (the 5th) and 上周五（5号）",
        "run `git log --since yesterday` or https://x.org/yesterday",
        "",
    ],
)
def test_texts_without_certain_times_are_unchanged(text: str) -> None:
    assert add_date_notes(text, TUESDAY) == text


def test_a_date_is_not_added_inside_an_expression() -> None:
    annotated = add_date_notes("a week ago today", TUESDAY)

    assert annotated == "a week ago (around 2023-05-02) today"
    assert add_date_notes(annotated, TUESDAY) == annotated


def test_a_date_in_the_text_is_not_replaced() -> None:
    assert add_date_notes("last Friday (2020-01-01)", TUESDAY) == "last Friday (2020-01-01)"
