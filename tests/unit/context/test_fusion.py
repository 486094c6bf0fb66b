"""Fusion of channels into one ranking."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memci.domain.search.candidate import UNTIMED, Candidate, Channel, Source
from memci.domain.search.ranking import Hints, Ranked, best_of_each_source, fuse_rrf, fuse_scaled
from tests.support.talk import in_order, keys, memory, message


class TestReciprocalRanks:
    def test_a_candidate_of_two_channels_beats_the_best_of_one(self):
        ranked = fuse_rrf(
            [message(1, dense=0.9), message(2, dense=0.8, lexical=3.0), message(3, lexical=9.0)],
            list(Channel),
        )
        assert keys(ranked) == [("chat", 2), ("chat", 3), ("chat", 1)]
        assert ranked[0].ranks == {Channel.DENSE: 2, Channel.LEXICAL: 2}
        assert ranked[0].score == pytest.approx(2 / 62)
        assert ranked[1].score == pytest.approx(1 / 61)

    def test_cosines_are_ranked_together_and_lexical_scores_by_source(self):
        ranked = fuse_rrf(
            [message(1, dense=0.5, lexical=20.0), memory(1, dense=0.6, lexical=2.0)], list(Channel)
        )
        assert [each.ranks for each in ranked] == [
            {Channel.DENSE: 1, Channel.LEXICAL: 1}, {Channel.DENSE: 2, Channel.LEXICAL: 1},
        ]  # fmt: skip

    def test_a_channel_that_is_off_does_not_count(self):
        ranked = fuse_rrf([message(1, dense=0.9), message(2, lexical=1.0)], [Channel.LEXICAL])
        assert keys(ranked) == [("chat", 2)]

    def test_a_candidate_without_a_relevant_channel_is_no_hit(self):
        assert fuse_rrf([message(1, dense=0.05), message(2, lexical=0.0)], list(Channel)) == []

    def test_equal_scores_are_ordered_by_source_and_then_latest_first(self):
        ranked = fuse_rrf(
            [memory(9, lexical=1.0), message(1, lexical=1.0), message(2, lexical=1.0)],
            [Channel.LEXICAL],
        )
        assert keys(ranked) == [("chat", 2), ("memory", 9), ("chat", 1)]


def test_each_source_keeps_its_best_k():
    ranked = in_order(message(1), message(2), memory(1), message(3), memory(2))
    assert keys(best_of_each_source(ranked, 1)) == [("chat", 1), ("memory", 1)]


@pytest.mark.parametrize("fuse", [fuse_rrf, lambda found, on: fuse_scaled(found, on, Hints())])
def test_a_chunk_with_a_low_cosine_alone_is_no_hit(
    fuse: Callable[[list[Candidate], list[Channel]], list[Ranked]],
) -> None:
    def chunk(key: int, **scores: float) -> Candidate:
        return Candidate(Source.DOCUMENT, key, f"chunk {key}", (), UNTIMED, **scores)

    found = [chunk(1, dense=0.15), chunk(2, dense=0.3), chunk(3, dense=0.15, lexical=2.0)]
    found += [message(4, dense=0.15), message(5, dense=0.05)]
    assert {each.candidate.key for each in fuse(found, list(Channel))} == {2, 3, 4}
