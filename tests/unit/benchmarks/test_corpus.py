"""The generated texts that benchmarks give to agents."""

from __future__ import annotations

from collections import Counter

import numpy as np

from benchmarks.corpus import SESSION_MESSAGES, Corpus
from memci.smallmodel.offline.index_terms import OfflineLexicon


def test_a_seed_always_gives_the_same_texts_and_another_seed_gives_others() -> None:
    one, same, other = (Corpus.written(200, seed) for seed in (1, 1, 2))
    assert one.texts == same.texts
    assert np.array_equal(one.vectors, same.vectors)
    assert not set(one.texts) & set(other.texts)


def test_word_frequencies_follow_zipfs_law() -> None:
    counted = Counter(
        term for text in Corpus.written(2_000, 3).texts for term in OfflineLexicon().terms(text)
    )
    ranked = [count for _, count in counted.most_common()]
    # Zipf's law: word 10 is about ten times as frequent as word 100; many words occur once.
    assert 4 < ranked[9] / ranked[99] < 15
    assert ranked.count(1) > 0.2 * len(ranked)
    # The most frequent word is not in all texts.
    assert ranked[0] < 1_500


def test_a_question_has_eight_terms_and_a_vector_near_its_text() -> None:
    corpus = Corpus.written(300, 4)
    for text, vector, tokens in corpus.questions(20, seed=1):
        assert len(set(OfflineLexicon().terms(text))) == 8
        assert 0 < len(tokens.likeness(corpus.tokens).nonzero()[0]) <= 300
        cosines = corpus.vectors @ vector
        assert cosines.max() > 0.8
        assert 0.6 < np.median(cosines) < 0.9


def test_messages_are_a_conversation_in_sessions() -> None:
    messages = Corpus.written(2 * SESSION_MESSAGES, 5).messages()
    assert [each.seq for each in messages] == list(range(1, len(messages) + 1))
    assert len({each.session_id for each in messages}) == 2
    assert messages[0].role != messages[1].role
    assert sorted(messages, key=lambda each: each.said_at) == messages
