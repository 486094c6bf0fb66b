"""One ranking out of scaled scores and hints (R11)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.domain.search.candidate import (
    DEEPEST,
    Candidate,
    Channel,
    Extract,
    Source,
    Timed,
    depth,
)
from memci.domain.search.duplicates import join_memories
from memci.domain.search.ranking import (
    AnswerType,
    Hints,
    Ranked,
    best_of_rankings,
    fuse_scaled,
    hints_of,
)
from memci.language.question import analyse
from tests.support.talk import BEGIN, in_order, keys, memory, message

BOTH = tuple(Channel)
TEXT = "one two three four"
NONE = Hints()


def ranked(*candidates: Candidate, hints: Hints = NONE, channels=BOTH) -> list[int]:
    return [each.candidate.key for each in fuse_scaled(candidates, channels, hints)]


def said(seq: int, dense: float | None = None, lexical: float | None = None, **fields) -> Candidate:
    return message(seq, fields.pop("text", TEXT), dense=dense, lexical=lexical, **fields)


def test_the_sum_of_both_channels_counts():
    assert ranked(said(1, 0.9, 1.0), said(2, 0.8, 9.0), said(3, 0.2, 9.0)) == [2, 1, 3]


def test_a_channel_that_is_off_counts_nothing():
    found = [said(1, 0.9, 1.0), said(2, 0.1, 9.0)]
    assert ranked(*found, channels=(Channel.LEXICAL,)) == [2, 1]
    assert ranked(*found, channels=(Channel.DENSE,))[0] == 1


def test_what_links_lead_to_gains_by_how_strongly_they_do():
    found = [said(1, 0.9, 5.0), said(2, 0.9, 5.0, linked=0.4), said(3, 0.9, 5.0, linked=0.8)]
    fused = fuse_scaled(found, BOTH, NONE)
    assert [each.candidate.key for each in fused] == [3, 2, 1]
    gains = [each.score - fused[2].score for each in fused]
    assert gains == pytest.approx([0.05, 0.025, 0])
    assert [each.ranks.get(Channel.BFS) for each in fused] == [1, 2, None]
    off = fuse_scaled(found, (Channel.DENSE, Channel.LEXICAL), NONE)
    assert len({each.score for each in off}) == 1


def test_what_links_alone_lead_to_is_a_hit():
    assert ranked(said(1, 0.05, None, linked=0.1)) == [1]
    assert ranked(said(1, None, None, linked=0.1), channels=(Channel.BFS,)) == [1]
    assert ranked(said(1, 0.05, None, linked=0.1), channels=(Channel.DENSE,)) == []


def test_what_no_channel_finds_relevant_is_no_hit():
    assert ranked(said(1, 0.05), said(2, None, 0.0)) == []


def test_what_has_no_vector_counts_by_its_words_alone():
    assert ranked(said(1, 0.9, 5.0), said(2, None, 9.0)) == [2, 1]


@given(
    st.lists(st.tuples(st.floats(0.2, 1), st.floats(0.1, 50)), min_size=2, max_size=8, unique=True),
    st.sampled_from([0.5, 2.0, 4.0]),
)
def test_only_proportions_of_words_count(scores: list[tuple[float, float]], times: float):
    """BM25 scores have no upper end: what they are multiplied by must not matter."""
    found = [said(seq, *each) for seq, each in enumerate(scores)]
    scaled = [each._replace(lexical=each.lexical * times) for each in found]
    before, after = (fuse_scaled(each, BOTH, Hints()) for each in (found, scaled))
    assert [each.score for each in before] == pytest.approx([each.score for each in after])


class TestHints:
    def test_who_is_named_speaks_first(self):
        found = [said(1, 0.5, 5.0, name="Ann"), said(2, 0.5, 5.0, name="Bob")]
        assert ranked(*found, hints=Hints(speakers=frozenset({"Ann"})))[0] == 1
        assert ranked(*found, hints=Hints(speakers=frozenset({"Bob"})))[0] == 2
        assert ranked(*found, hints=Hints(speakers=frozenset({"Ann", "Bob"}))) == ranked(*found)

    def test_what_was_said_then_comes_first(self):
        may = datetime(2026, 5, 5, tzinfo=UTC)
        found = [said(1, 0.5, 5.0), said(2, 0.4, 4.0)._replace(at=may)]
        assert ranked(*found)[0] == 1
        assert ranked(*found, hints=Hints(time_fit=lambda at, _session: float(at == may)))[0] == 2

    def test_the_kind_of_answer_counts_a_little(self):
        found = [said(1, 0.5, 5.0), said(2, 0.5, 5.0, text="it was yesterday evening")]
        found = [found[1]._replace(key=0), found[0]]
        assert ranked(*found)[0] == 1
        assert ranked(*found, hints=Hints(answer_type=AnswerType.TIME))[0] == 0

    def test_a_question_is_no_answer(self):
        found = [
            said(1, 0.5, 5.0, text="is it two then"),
            said(2, 0.5, 5.0, text="is it two then?"),
        ]
        assert ranked(*found) == [1, 2]
        chinese = [said(1, 0.5, 5.0, text="是两点吗。"), said(2, 0.5, 5.0, text="是两点吗？")]
        assert ranked(*chinese) == [1, 2]

    def test_a_session_that_talks_of_it_lends_to_its_messages(self):
        other = [said(seq, 0.5, 5.0, session_id="other") for seq in (1,)]
        here = [said(seq, 0.5, 5.0, session_id="here") for seq in (0, -1, -2)]
        assert ranked(*other, *here)[-1] == 1

    def test_code_is_found_by_its_symbol_alone(self):
        analysis = analyse("What does `Parser.read` do?", BEGIN)
        chunk = Candidate(
            Source.CODE, 1 << 50, "def read(): ...", (), BEGIN,
            extract=Extract(None, "Parser", "Parser.read"),
        )  # fmt: skip
        found = [said(1, 0.5, 5.0), chunk]
        assert ranked(*found) == [1]
        named = hints_of(analysis, ("Parser.read",), Timed())
        assert ranked(*found, hints=named) == [1, 1 << 50]
        near = [found[0], chunk._replace(dense=0.3)]
        assert ranked(*near) == [1, 1 << 50]
        assert ranked(*near, hints=named) == [1 << 50, 1]


class TestJoining:
    def test_a_memory_lends_to_its_messages_and_leaves_them_the_room(self):
        found = in_order(message(1), message(2), memory(7, 2, 3), memory(8, 9))
        shown = join_memories(found)
        assert keys(shown) == [("chat", 1), ("chat", 2), ("memory", 8)]
        assert [each.candidate.memory for each in shown] == [None, 7, None]
        assert shown[1].score > found[1].score

    def test_a_memory_whose_messages_were_hardly_found_stays(self):
        found = [Ranked(memory(7, 1, 50), 1.0, {}), Ranked(message(1), 0.1, {})]
        assert keys(join_memories(found)) == [("memory", 7), ("chat", 1)]

    def test_without_memories_nothing_changes(self):
        found = in_order(message(1), message(2))
        assert join_memories(found) == found


def test_the_best_of_several_rankings_counts():
    first = [Ranked(message(1), 0.9, {}), Ranked(message(2), 0.1, {})]
    second = [Ranked(message(2), 0.95, {}), Ranked(message(3), 0.5, {})]
    assert [(each.candidate.key, each.score) for each in best_of_rankings([first, second])] == [
        (2, 0.95), (1, 0.9), (3, 0.5),
    ]  # fmt: skip
    assert best_of_rankings([first]) == first


def test_a_search_looks_as_deep_as_its_answer_is_long():
    depths = [depth(k, None) for k in (1, 10, 20, 200)]
    assert depths == sorted(depths)
    assert (depths[:2], depths[-1]) == ([40, 80], DEEPEST)
    assert [depth(None, budget) for budget in (100, 2_000, 100_000)] == [80, 100, DEEPEST]
    assert depth(None, None) == DEEPEST
