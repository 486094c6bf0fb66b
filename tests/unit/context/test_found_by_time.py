"""Candidates that are found by their time alone, (R11)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memci.domain.search.candidate import Candidate, Channel, Source, Timed
from memci.domain.search.hints import Hints
from memci.domain.search.ranking import Ranked
from memci.language.question.analysis import analyse
from memci.language.times.ranges import TimeRange, TimeSpan, spans_to_search
from tests.support.talk import BEGIN, memory, message, ranked_hits

BOTH = (Channel.DENSE, Channel.LEXICAL)
WEEK = TimeSpan(BEGIN, BEGIN + timedelta(days=7))
EARLIER = BEGIN - timedelta(days=30)
TEXT = "one two three four"


def fits(at: datetime, _session: str | None) -> float:
    return float(WEEK.holds(at))


ASKED = Timed((WEEK,))
TIME_ONLY = Timed((WEEK,), (WEEK,))


def chat(seq: int, dense: float | None = None, lexical: float | None = None, **more) -> Candidate:
    at = more.pop("at", BEGIN)
    return message(seq, more.pop("text", TEXT), dense=dense, lexical=lexical, **more)._replace(
        at=at
    )


def fused(candidates: list[Candidate], timed: Timed) -> list[Ranked]:
    return ranked_hits(candidates, Hints(time_fit=fits, timed=timed), BOTH)


def keys(ranked: list[Ranked]) -> list[int]:
    return [each.candidate.key for each in ranked]


class TestHits:
    def test_a_message_of_the_time_is_a_hit_without_another_channel(self):
        (hit,) = fused([chat(1), chat(2, at=EARLIER), chat(3, 0.05, at=EARLIER)], ASKED)
        assert (hit.candidate.key, hit.ranks) == (1, {})

    def test_a_memory_is_no_hit_by_its_time_alone(self):
        assert fused([memory(1)], ASKED) == []
        assert fused([memory(1)], TIME_ONLY) == []

    def test_messages_of_the_time_that_words_found_rank_before_others(self):
        asks = chat(5, 0.11, text="is it so?")
        spoken = [chat(1, 0.9, 9.0), chat(2, 0.4), chat(3, None, 0.5), asks]
        long = chat(4, text="a long text " * 40, session_id="s")
        found = keys(fused([long, *spoken], ASKED))
        assert found.index(1) < found.index(2) < found.index(4)

    def test_messages_of_the_time_rank_first_if_the_question_names_only_a_time(self):
        best = chat(1, 0.9, 9.0, at=EARLIER)
        others = [chat(seq, 0.8, 8.0, at=EARLIER) for seq in (2, 3)]
        found = fused([best, *others, chat(4), chat(5, 0.2)], TIME_ONLY)
        assert set(keys(found)[:2]) == {4, 5}
        assert keys(found)[2] == 1

    def test_without_a_time_nothing_changes(self):
        candidates = [chat(1, 0.9, 9.0), chat(2, 0.2), chat(3)]
        assert keys(fused(candidates, Timed())) == [1, 2]


def test_a_message_of_the_time_ranks_before_weak_hits_of_other_times():
    weak, strong = chat(1, 0.12, at=EARLIER), chat(2, 0.9, 9.0, at=EARLIER)
    assert keys(fused([weak, strong, chat(3)], ASKED))[-1] == 1


def test_a_trivial_message_of_the_time_does_not_rank_first():
    assert keys(fused([chat(1, 0.9, 9.0, text="ok"), chat(2)], TIME_ONLY)) == [2, 1]


def test_a_memory_of_the_time_ranks_first_like_messages():
    old, new = (memory(key, text=TEXT, dense=0.3) for key in (1, 2))
    found = [old._replace(at=EARLIER, dense=0.9), new]
    assert keys(fused(found, TIME_ONLY)) == [2, 1]


def test_documents_have_no_time():
    chunk = Candidate(Source.DOCUMENT, 9, TEXT, (), BEGIN, dense=0.3)
    assert keys(fused([chunk, chat(1, 0.9, at=EARLIER)], TIME_ONLY)) == [1, 9]


def test_a_span_excludes_its_end():
    assert WEEK.holds(BEGIN)
    assert not WEEK.holds(BEGIN + timedelta(days=7))
    assert TimeSpan(None, BEGIN).holds(EARLIER)
    assert TimeSpan(BEGIN, None).holds(BEGIN + timedelta(days=900))


def test_a_time_without_a_year_is_searched_in_earlier_years_too():
    may = datetime(2026, 5, 1, tzinfo=UTC)
    yearly = TimeRange(may, may + timedelta(days=31), yearly=True)
    first, *others = spans_to_search([yearly])
    assert (first.since, first.besides) == (may, False)
    assert [each.since.year for each in others if each.since] == [2025, 2024, 2023]
    assert all(each.besides for each in others)
    assert len(spans_to_search([yearly, yearly])) == 4
    assert len(spans_to_search([TimeRange(may, None)])) == 1


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TIME_QUESTIONS = [
    "What did I do last week?", "what happened on 12 November?", "last week", "11月10日", "上周",
    "What did Caroline do last week?", "what's Caroline been up to recently?", "上周我说了什么？",
    "上周我做了什么", "九月我做了什么", "三周前我们聊了什么", "最近我做了什么",
    "帮我总结一下上周的事情",
    "昨天李明跟我说了些什么？", "Could you summarise what we talked about yesterday, please?",
]  # fmt: skip
OTHER_QUESTIONS = [
    "What did I buy last week?", "上周我买了什么", "Where does Caroline live?", "我住在哪里？",
    "What did I do?", "What did Otto do last week?", "上周的会议谁参加了", "我最近读了什么书",
    "Which of the 3 plans of last week is mine?", "What did I tell Anna's dog yesterday?",
]  # fmt: skip


@pytest.mark.parametrize("text", TIME_QUESTIONS)
def test_questions_that_name_only_a_time(text: str):
    found = analyse(text, NOW, names=("Caroline", "李明"))
    assert found.only_times
    assert found.k >= 7


@pytest.mark.parametrize("text", OTHER_QUESTIONS)
def test_questions_that_name_more_than_a_time(text: str):
    assert not analyse(text, NOW, names=("Caroline", "李明")).only_times
