"""Laws of finding times and adding dates to them, for any text on any day."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.language.times.mentions import add_date_notes, date_notes, find_times
from tests.support.examples import examples

PIECES = (
    "last Friday", "Last week's", "next Tues", "this weekend", "the week before last", "this past",
    "yesterday", "today", "Tomorrow", "last night", "two days ago", "over 3 weeks ago", "a year",
    "999 years ago", "in the last 20 months", "last May", "in March", "next winter", "May 5",
    "29 February", "Feb 30 2023", "5 May 2023", "2023-05-05", "since 2016", "1–7 May", "9999",
    "昨天", "前天", "大后天", "上周五", "下下周", "本周末", "上个月31号", "去年2月29日", "三天前",
    "九十九年前",
    "2023年5月1日–", "6月4日", "周日", "最近99年",
    "明天", "（", "）", "(", ")", " (2022)",
    " (around 2018)", "（约2018年）",
    " (1–7 May 2023)", "\n", ". ", ", ", " ", "“", "”", "`", '"', "'s ",
    "the", "of", "Once", "I ", "https://a.b/", "ſ", "İ", "٣ days ago", "去", "的", "> ",
)  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=12).map(" ".join),
)
offsets = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))
edges = st.sampled_from([
    date(MINYEAR, 1, 1), date(MAXYEAR, 12, 31), date(2024, 2, 29), date(2023, 12, 31),
])  # fmt: skip
moments = st.builds(datetime.combine, st.one_of(st.dates(), edges), st.times(), tzinfo=offsets)


@settings(max_examples=examples(1000))
@given(texts, moments)
def test_mentions_point_at_their_words_in_order(text: str, said_at: datetime) -> None:
    end = 0
    for mention in find_times(text, said_at):
        assert end <= mention.start < mention.end
        assert text[mention.start : mention.end] == mention.text
        assert date.min <= mention.reading.first <= mention.reading.last <= date.max
        end = mention.end


@settings(max_examples=examples(1000))
@given(texts, moments)
def test_annotating_twice_is_annotating_once(text: str, said_at: datetime) -> None:
    once = add_date_notes(text, said_at)

    assert add_date_notes(once, said_at) == once
    assert date_notes(once, said_at) == []


@settings(max_examples=examples(1000))
@given(texts, moments)
def test_removing_the_notes_restores_the_text(text: str, said_at: datetime) -> None:
    annotated = add_date_notes(text, said_at)
    for note in date_notes(text, said_at):
        at = note.at  # the notes before it are removed already
        assert annotated[at : at + len(note.text)] == note.text
        annotated = annotated[:at] + annotated[at + len(note.text) :]

    assert annotated == text


@settings(max_examples=examples(500))
@given(texts, moments)
def test_only_certain_relative_mentions_get_a_date(text: str, said_at: datetime) -> None:
    whole = [each for each in find_times(text, said_at) if each.reading.whole]

    assert all(each.certain for each in whole)
    if not date_notes(text, said_at):
        assert add_date_notes(text, said_at) == text
