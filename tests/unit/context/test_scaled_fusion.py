"""Scaled scores and hints give one ranking (R11)."""

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


def chat(seq: int, dense: float | None = None, lexical: float | None = None, **fields) -> Candidate:
    return message(seq, fields.pop("text", TEXT), dense=dense, lexical=lexical, **fields)


def test_the_sum_of_both_channels_decides():
    assert ranked(chat(1, 0.9, 1.0), chat(2, 0.8, 9.0), chat(3, 0.2, 9.0)) == [2, 1, 3]


def test_a_channel_that_is_off_does_not_count():
    found = [chat(1, 0.9, 1.0), chat(2, 0.1, 9.0)]
    assert ranked(*found, channels=(Channel.LEXICAL,)) == [2, 1]
    assert ranked(*found, channels=(Channel.DENSE,))[0] == 1


def test_linked_candidates_gain_in_proportion_to_the_strength():
    found = [chat(1, 0.9, 5.0), chat(2, 0.9, 5.0, linked=0.4), chat(3, 0.9, 5.0, linked=0.8)]
    fused = fuse_scaled(found, BOTH, NONE)
    assert [each.candidate.key for each in fused] == [3, 2, 1]
    gains = [each.score - fused[2].score for each in fused]
    assert gains == pytest.approx([0.05, 0.025, 0])
    assert [each.ranks.get(Channel.BFS) for each in fused] == [1, 2, None]
    off = fuse_scaled(found, (Channel.DENSE, Channel.LEXICAL), NONE)
    assert len({each.score for each in off}) == 1


def test_a_candidate_found_by_links_alone_is_a_hit():
    assert ranked(chat(1, 0.05, None, linked=0.1)) == [1]
    assert ranked(chat(1, None, None, linked=0.1), channels=(Channel.BFS,)) == [1]
    assert ranked(chat(1, 0.05, None, linked=0.1), channels=(Channel.DENSE,)) == []


def test_a_candidate_without_a_relevant_channel_is_no_hit():
    assert ranked(chat(1, 0.05), chat(2, None, 0.0)) == []


def test_a_candidate_without_a_vector_counts_by_its_words():
    assert ranked(chat(1, 0.9, 5.0), chat(2, None, 9.0)) == [2, 1]


@given(
    st.lists(st.tuples(st.floats(0.2, 1), st.floats(0.1, 50)), min_size=2, max_size=8, unique=True),
    st.sampled_from([0.5, 2.0, 4.0]),
)
def test_only_ratios_of_lexical_scores_count(scores: list[tuple[float, float]], times: float):
    """BM25 scores have no upper limit: a common factor must not change the ranking."""
    found = [chat(seq, *each) for seq, each in enumerate(scores)]
    scaled = [each._replace(lexical=each.lexical * times) for each in found]
    before, after = (fuse_scaled(each, BOTH, Hints()) for each in (found, scaled))
    assert [each.score for each in before] == pytest.approx([each.score for each in after])


class TestHints:
    def test_messages_of_a_named_speaker_rank_first(self):
        found = [chat(1, 0.5, 5.0, name="Ann"), chat(2, 0.5, 5.0, name="Bob")]
        assert ranked(*found, hints=Hints(speakers=frozenset({"Ann"})))[0] == 1
        assert ranked(*found, hints=Hints(speakers=frozenset({"Bob"})))[0] == 2
        assert ranked(*found, hints=Hints(speakers=frozenset({"Ann", "Bob"}))) == ranked(*found)

    def test_messages_of_the_named_time_rank_first(self):
        may = datetime(2026, 5, 5, tzinfo=UTC)
        found = [chat(1, 0.5, 5.0), chat(2, 0.4, 4.0)._replace(at=may)]
        assert ranked(*found)[0] == 1
        assert ranked(*found, hints=Hints(time_fit=lambda at, _session: float(at == may)))[0] == 2

    def test_the_answer_type_breaks_a_tie(self):
        found = [chat(1, 0.5, 5.0), chat(2, 0.5, 5.0, text="it was yesterday evening")]
        found = [found[1]._replace(key=0), found[0]]
        assert ranked(*found)[0] == 1
        assert ranked(*found, hints=Hints(answer_type=AnswerType.TIME))[0] == 0

    def test_a_question_ranks_after_a_statement(self):
        found = [
            chat(1, 0.5, 5.0, text="is it two then"),
            chat(2, 0.5, 5.0, text="is it two then?"),
        ]
        assert ranked(*found) == [1, 2]
        chinese = [chat(1, 0.5, 5.0, text="是两点吗。"), chat(2, 0.5, 5.0, text="是两点吗？")]
        assert ranked(*chinese) == [1, 2]

    def test_messages_gain_from_other_hits_of_their_session(self):
        other = [chat(seq, 0.5, 5.0, session_id="other") for seq in (1,)]
        here = [chat(seq, 0.5, 5.0, session_id="here") for seq in (0, -1, -2)]
        assert ranked(*other, *here)[-1] == 1

    def test_code_is_found_by_its_symbol(self):
        analysis = analyse("What does `Parser.read` do?", BEGIN)
        chunk = Candidate(
            Source.CODE, 1 << 50, "def read(): ...", (), BEGIN,
            extract=Extract(None, "Parser", "Parser.read"),
        )  # fmt: skip
        found = [chat(1, 0.5, 5.0), chunk]
        assert ranked(*found) == [1]
        named = hints_of(analysis, ("Parser.read",), Timed())
        assert ranked(*found, hints=named) == [1, 1 << 50]
        near = [found[0], chunk._replace(dense=0.3)]
        assert ranked(*near) == [1, 1 << 50]
        assert ranked(*near, hints=named) == [1 << 50, 1]


class TestJoining:
    def test_a_memory_raises_its_messages_and_is_replaced_by_them(self):
        found = in_order(message(1), message(2), memory(7, 2, 3), memory(8, 9))
        shown = join_memories(found)
        assert keys(shown) == [("chat", 1), ("chat", 2), ("memory", 8)]
        assert [each.candidate.memory for each in shown] == [None, 7, None]
        assert shown[1].score > found[1].score

    def test_a_memory_whose_messages_have_low_scores_is_kept(self):
        found = [Ranked(memory(7, 1, 50), 1.0, {}), Ranked(message(1), 0.1, {})]
        assert keys(join_memories(found)) == [("memory", 7), ("chat", 1)]

    def test_without_memories_nothing_changes(self):
        found = in_order(message(1), message(2))
        assert join_memories(found) == found


def test_the_best_score_of_several_rankings_counts():
    first = [Ranked(message(1), 0.9, {}), Ranked(message(2), 0.1, {})]
    second = [Ranked(message(2), 0.95, {}), Ranked(message(3), 0.5, {})]
    assert [(each.candidate.key, each.score) for each in best_of_rankings([first, second])] == [
        (2, 0.95), (1, 0.9), (3, 0.5),
    ]  # fmt: skip
    assert best_of_rankings([first]) == first


def test_the_depth_of_a_search_grows_with_k_and_budget():
    depths = [depth(k, None) for k in (1, 10, 20, 200)]
    assert depths == sorted(depths)
    assert (depths[:2], depths[-1]) == ([40, 80], DEEPEST)
    assert [depth(None, budget) for budget in (100, 2_000, 100_000)] == [80, 100, DEEPEST]
    assert depth(None, None) == DEEPEST
