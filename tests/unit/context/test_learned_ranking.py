"""The learned ranking: features relative to the other candidates, trees, late interaction (R11)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from memci.domain.search.boosted_trees import BoostedTrees
from memci.domain.search.candidate import UNTIMED, Candidate, Channel, Extract, Source
from memci.domain.search.features import NAMES, Channels, Comparison, features_of
from memci.domain.search.hints import Hints
from memci.domain.search.late_interaction import QuestionTokens
from memci.domain.search.learned_ranking import ranking_model
from tests.support.talk import candidates, message, ranked_hits


def order(found: list[Candidate], hints: Hints | None = None) -> list[int]:
    return [each.candidate.key for each in ranked_hits(found, hints or Hints())]


def column(found: list[Candidate], name: str, hints: Hints | None = None) -> list[float]:
    scores = Channels.of(found, {}, 0.1)
    rows = list(range(len(found)))
    table = features_of(scores, rows, Comparison(), hints or Hints())
    return [float(value) for value in table[:, NAMES.index(name)]]


def talk(count: int = 30) -> list[Candidate]:
    """Messages that match less and less, in sessions of ten."""
    return [
        message(seq, f"text number {seq} of the talk", dense=0.6 - 0.01 * seq,
                lexical=max(9.0 - seq, 0.0), session_id=f"s{seq // 10}")._replace(position=seq)
        for seq in range(count)
    ]  # fmt: skip


def test_what_both_channels_find_ranks_first_and_scores_fall() -> None:
    ranked = ranked_hits(talk(), Hints())
    assert ranked[0].candidate.key in range(3)
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)


@given(found=candidates())
def test_a_ranking_holds_the_hits_of_all_channels_best_first(found: list[Candidate]) -> None:
    ranked = ranked_hits(found, Hints())
    assert [each.score for each in ranked] == sorted((r.score for r in ranked), reverse=True)
    assert {(each.candidate.source, each.candidate.key) for each in ranked} == {
        (each.source, each.key)
        for each in found
        if (each.dense or 0) > 0.1 or (each.lexical or 0) > 0
    }


@pytest.mark.parametrize("factor", [0.2, 3.0])
def test_the_unit_of_a_score_changes_nothing(factor: float) -> None:
    other = [
        each._replace(dense=(each.dense or 0) * 0.5 + 0.2, lexical=(each.lexical or 0) * factor)
        for each in talk()
    ]
    rows = list(range(30))
    first = features_of(Channels.of(talk(), {}, 0.1), rows, Comparison(), Hints())
    second = features_of(Channels.of(other, {}, 0.1), rows, Comparison(), Hints())
    assert np.allclose(first, second, atol=1e-3)


def test_neighbours_and_sessions_lend_their_scores() -> None:
    found = talk()
    after = column(found, "after")
    assert after[3] == pytest.approx(column(found, "dense_z")[4], abs=1e-5)
    assert after[29] < min(column(found, "dense_z"))  # there is none
    session = column(found, "session")
    assert session[5] > session[15] > session[25]


def test_words_of_neighbours_alone_make_a_hit() -> None:
    found = [message(1, "Which one?", lexical=5.0)._replace(position=7),
             message(2, "The blue one.")._replace(position=8)]  # fmt: skip
    scores = Channels.of(found, {7: 5.0, 8: 4.0}, 0.1)
    assert [each.lexical for each in scores.candidates] == [10.0, 4.0]
    assert scores.words.tolist() == [5.0, 0.0]


def test_named_code_comes_first() -> None:
    def code(key: int, symbol: str) -> Candidate:
        place = Extract(None, "app.py", symbol)
        return Candidate(Source.CODE, key, "def f(): ...", (), UNTIMED, dense=0.3, extract=place)

    found = [*talk(), code(90, "parse_row"), code(91, "other")]
    assert order(found, Hints(names_symbol=lambda symbol: symbol == "parse_row"))[0] == 90


def test_links_count_where_they_are_followed() -> None:
    found = [message(seq, dense=0.5) for seq in range(1, 6)]
    found[3] = found[3]._replace(linked=0.7)
    ranked = ranked_hits(found, Hints(), [Channel.BFS])
    assert [each.candidate.key for each in ranked] == [4]


def test_links_alone_order_by_their_strength() -> None:
    strengths = {1: 0.5, 2: 0.1, 3: 0.9, 4: 0.05, 5: 0.8}
    texts = ("a long text about the garden", "is it so?", "yes", "no, a boat", "a house, I think")
    found = [
        message(seq, text)._replace(linked=strengths[seq])
        for seq, text in enumerate(texts, start=1)
    ]
    ranked = ranked_hits(found, Hints(), [Channel.BFS])
    assert [each.candidate.key for each in ranked] == [3, 5, 1, 2, 4]


def tree(**more: Any) -> dict[str, Any]:
    return {"features": list(NAMES), "columns": [[0, 1, 0, 0, 0, 0, 0]],
            "thresholds": [[0.5, 2.0, 0, 0, 0, 0, 0]],
            # Left of the first node is leaf 0; left of the second is leaf 1, right of it leaf 2.
            "masks": [[0xFE, 0xFD, 255, 255, 255, 255, 255]],
            "leaves": [[-1.0, 3.0, 7.0, 0, 0, 0, 0, 0]], **more}  # fmt: skip


def test_a_tree_is_followed_to_its_leaf() -> None:
    model = BoostedTrees.read(json.dumps(tree()))
    rows = np.zeros((3, len(NAMES)), np.float32)
    rows[:, 0], rows[:, 1] = [0.5, 0.6, 0.6], [9.0, 2.0, 2.1]
    assert model.predict(rows).tolist() == [-1.0, 3.0, 7.0]


def test_the_model_knows_the_features() -> None:
    assert ranking_model().features == NAMES


def test_tokens_are_compared_by_their_bits() -> None:
    random = np.random.default_rng(1)
    tokens = random.integers(0, 256, (5, 48), dtype=np.uint8)
    question = QuestionTokens(tokens[:2], np.array([1.0, 3.0], np.float32))
    texts = [tokens, tokens[:0], tokens[:1], tokens[1:2], tokens[3:]]
    both, none, first, second, others = question.likeness([each.tobytes() for each in texts])
    assert both == pytest.approx(1.0)
    assert second > first > none == 0.0
    assert abs(others) < 0.3
    alone = QuestionTokens(tokens[:1], np.ones(1, np.float32))
    assert alone.likeness([(~tokens[:1]).tobytes()]) == [-1.0]
    assert question.likeness([b""]) == [0.0]
    odd = [tokens[0].tobytes()[:5], tokens[:1].tobytes() + b"x", tokens[:1].tobytes()]
    assert question.likeness(odd).tolist() == [0.0, 0.0, first]
    assert not len(question.likeness([]))
