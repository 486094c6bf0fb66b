"""Laws of the analysis of questions (R10), for any text on any day."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.language.names import entities_named
from memci.language.question.analysis import QueryAnalysis, analyse
from memci.language.question.subquestions import split_questions
from memci.language.times.time_words import MONTHS
from tests.support.examples import examples

PIECES = (
    "When did", "Ann", "Ann Smith", "John's", "and where does", "?", "？", "last Friday", "in May",
    "since March", "before", "after", "between", "and", "from", "to", "until", "5", "8", "2022",
    "May 5, 2022", "29 February", "5/8/2022", "31/2", "the week before", "two weeks", "half a year",
    "ago", "the summer of",
    "Christmas", "last Christmas", "Q2", "early June", "next few days",
    "the first Monday of", "every", "as mentioned on", "two hours ago", "how many", "both", "list",
    "昨天", "去年", "五月", "2022年5月8日", "到", "之前", "以来", "前两天", "那周", "国庆节",
    "年底",
    "上半年",
    "半年前", "和", "之间", "《三体》", "李明", "小王", "去厦门旅游", "什么时候", "谁",
    "另外",
    "\n", " ", ". ", "“", "”", "`", '"', "'s ", "ſ", "İ", "٣", "９", "〇", "\x00", "\ud800",
)  # fmt: skip
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=12).map(" ".join),
)
names = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=4)
zones = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))
edges = st.sampled_from([date.min, date.max, date(2024, 2, 29), date(2023, 12, 31)])
days = st.one_of(st.dates(), st.dates(date(2000, 1, 1), date(2040, 1, 1)), edges)
moments = st.builds(datetime.combine, days, st.times(), tzinfo=zones)


@settings(max_examples=examples(300))
@given(texts, moments, moments, names)
def test_any_text_can_be_analysed(text: str, now: datetime, at: datetime, known: list[str]) -> None:
    found = analyse(text, now, names=known)

    assert 0 <= found.complexity <= 1
    assert 3 <= found.k <= 15
    assert found.speakers <= set(known)
    assert len(found.parts) <= 4
    assert len(found.times) <= 8
    assert len(found.entity_keys) == len(found.entities) <= 12
    assert 0 <= found.time_fit(at) <= 1
    assert bool(found.times) or found.time_fit(at) == 0
    assert found == analyse(text, now, names=known)


@settings(max_examples=examples(300))
@given(texts, moments, moments)
def test_times_are_ordered_and_moments_inside_fit(text: str, now: datetime, at: datetime) -> None:
    found = analyse(text, now)

    for each in found.times:
        assert each.since is not None or each.until is not None
        assert 0 < each.certainty <= 1
        if each.since is not None:
            assert each.since.tzinfo is not None
            assert found.time_fit(each.since) == 1
            assert each.until is None or each.since < each.until
        begun = each.since is None or each.since <= at
        if begun and (each.until is None or at < each.until):
            assert found.time_fit(at) == 1


@settings(max_examples=examples(200))
@given(texts, st.dates(date(2000, 1, 1), date(2030, 1, 1)), st.integers(1, 400))
def test_moments_farther_outside_a_time_fit_less(text: str, day: date, far: int) -> None:
    for each in analyse(text, datetime.combine(day, time(12), UTC)).times:
        if each.until is not None and not each.yearly:
            fits = [each.fit(each.until + timedelta(days=days)) for days in (0, far, far + 1)]
            assert fits == sorted(fits, reverse=True)


@settings(max_examples=examples(200))
@given(texts)
def test_parts_are_in_the_text_in_their_order(text: str) -> None:
    end = 0
    for part in split_questions(text):
        assert part.strip() == part != ""
        end = text.index(part, end) + len(part)


@settings(max_examples=examples(200))
@given(texts, names, texts)
def test_entities_named_in_a_text_are_keys(question: str, known: list[str], text: str) -> None:
    keys = analyse(question, datetime(2023, 5, 9, tzinfo=UTC), names=known).entity_keys

    assert entities_named(text, keys) <= keys
    assert entities_named(" ".join(keys), keys) == keys


def questions_about(day: date) -> list[str]:
    month = MONTHS[day.month - 1].capitalize()
    return [
        f"What happened on {day.isoformat()}?",
        f"What happened on {day.day} {month} {day.year}?",
        f"what happened on {month.lower()} {day.day}, {day.year}?",
        f"{day.year}年{day.month}月{day.day}日发生了什么？",
        f"{day.year}/{day.month}/{day.day}我做了什么？",
    ]


def first_day(found: QueryAnalysis) -> date:
    (only,) = found.times
    assert only.since is not None
    assert only.until == only.since + timedelta(days=1)
    return only.since.date()


@settings(max_examples=examples(300))
@given(st.dates(date(1950, 1, 1), date(2049, 12, 31)), moments)
def test_a_date_is_read_alike_in_both_languages(day: date, now: datetime) -> None:
    assert {first_day(analyse(each, now)) for each in questions_about(day)} == {day}


@settings(max_examples=examples(300))
@given(st.dates(date(2001, 1, 1), date(2040, 1, 1)), st.integers(1, 9))
def test_days_ago_are_the_same_day_in_both_languages(today: date, count: int) -> None:
    now = datetime.combine(today, time(9), UTC)
    numeral = "一二三四五六七八九"[count - 1]
    word = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")[count - 1]
    questions = [
        f"What did I do {count} days ago?",
        f"What did I do {word} days ago?",
        f"{count}天前我做了什么？",
        f"{numeral}天前我做了什么？",
    ]

    assert {first_day(analyse(each, now)) for each in questions} == {today - timedelta(days=count)}


NOW = datetime(2023, 5, 9, tzinfo=UTC)


def quickest_ms(text: str, tries: int = 7) -> float:
    def once() -> float:
        begin = process_time()
        analyse(text, NOW, names=("John", "李明"))
        return 1000 * (process_time() - begin)

    return min(once() for _ in range(tries))


@pytest.mark.parametrize("text", ["When did John meet Ann in May 2022?", "李明上周三去了哪里？"])
def test_an_ordinary_question_is_analysed_quickly(text: str) -> None:
    """Measured: 0.2 to 0.4 ms; the limit allows for busy machines."""
    assert quickest_ms(text, tries=40) < 2


@pytest.mark.parametrize("seed", range(8))
def test_a_long_text_is_analysed_quickly(seed: int) -> None:
    """Measured: 3 to 5 ms; quadratic time would be seconds."""
    random = Random(seed)
    kinds = (range(32, 127), range(0x3400, 0xA000), range(0xD800))
    text = "".join(chr(random.choice(random.choice(kinds))) for _ in range(8_192))

    assert quickest_ms(text) < 25


@pytest.mark.parametrize("piece", [*PIECES, "a", "A ", "1", "一", "., ", " \n", "((", "A'", "?? "])
def test_repeated_text_is_analysed_quickly(piece: str) -> None:
    """Repeated text makes no regular expression scan the same characters many times."""
    assert quickest_ms((piece * 8_192)[:8_192], tries=3) < 50
