"""Hits of channels, and rankings of each source."""

from __future__ import annotations

from memci.domain.search.candidate import UNTIMED, Candidate, Channel, Source
from memci.domain.search.ranking import best_of_each_source, channel_ranks
from tests.support.talk import in_order, keys, memory, message


def test_likeness_is_ranked_together_and_words_by_source():
    found = [message(1, dense=0.5, lexical=20.0), memory(1, dense=0.6, lexical=2.0)]
    assert channel_ranks(found, list(Channel), 0.1) == {
        (Source.CHAT, 1): {Channel.DENSE: 2, Channel.LEXICAL: 1},
        (Source.MEMORY, 1): {Channel.DENSE: 1, Channel.LEXICAL: 1},
    }


def test_a_channel_that_is_off_does_not_count():
    found = [message(1, dense=0.9), message(2, lexical=1.0)]
    assert list(channel_ranks(found, [Channel.LEXICAL], 0.1)) == [(Source.CHAT, 2)]


def test_a_candidate_without_a_relevant_channel_is_no_hit():
    assert (
        channel_ranks([message(1, dense=0.05), message(2, lexical=0.0)], list(Channel), 0.1) == {}
    )


def test_each_source_keeps_its_best_k():
    ranked = in_order(message(1), message(2), memory(1), message(3), memory(2))
    assert keys(best_of_each_source(ranked, 1)) == [("chat", 1), ("memory", 1)]


def test_a_chunk_with_a_low_likeness_alone_is_no_hit() -> None:
    def chunk(key: int, **scores: float) -> Candidate:
        return Candidate(Source.DOCUMENT, key, f"chunk {key}", (), UNTIMED, **scores)

    found = [chunk(1, dense=0.15), chunk(2, dense=0.3), chunk(3, dense=0.15, lexical=2.0)]
    ranks = channel_ranks(found, list(Channel), 0.1)
    assert {key for _, key in ranks} == {2, 3}
