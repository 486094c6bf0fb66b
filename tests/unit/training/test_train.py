"""Training: features of the search itself, and a model file that gives LightGBM's scores."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from memci.domain.search.boosted_trees import BoostedTrees
from memci.domain.search.features import NAMES
from tests.support.corpora import TALK, write
from training.collect import Group, collect
from training.corpus import Archive, Entry, Question, read_corpus
from training.train import among_ten, read_plain, train


def groups(count: int) -> list[Group]:
    """Groups in which the third feature, and the tenth a little, tell the evidence."""
    random = np.random.default_rng(3)
    made = []
    for _ in range(count):
        features = random.standard_normal((60, len(NAMES))).astype(np.float32)
        scores = features[:, 2] + 0.3 * features[:, 9]
        made.append(Group(features, features[:, 5].astype(float), scores > np.sort(scores)[-4]))
    return made


def test_the_model_file_gives_the_scores_of_the_trees_and_finds_the_evidence() -> None:
    learned = BoostedTrees.read(json.dumps(train([groups(60), groups(20)])))
    fresh = groups(10)
    assert among_ten(fresh, learned) > 0.9 > among_ten(fresh, None)


def test_features_are_collected_from_real_searches(tmp_path: Path) -> None:
    (talk,) = read_corpus(write(tmp_path, TALK))
    notes = replace(talk, entries=[replace(each, speaker="Ann") for each in talk.entries])
    plain, shuffled = collect([talk, notes], np.zeros((385, 384), dtype=np.float32))
    assert [len(each.plain) for each in plain] == [3, 3, 3, 3]
    assert [int(each.is_evidence.sum()) for each in plain] == [2, 1, 2, 1]
    # In another order the turns of a dialogue mean nothing.
    assert [int(each.is_evidence.sum()) for each in shuffled] == [2, 1]
    turns = [each.features[0, NAMES.index("turns")] for each in plain]
    assert turns == [1.0, 1.0, 0.0, 0.0]
    tokens = plain[0].features[:, NAMES.index("tokens_known")]
    assert tokens.tolist() == [1.0, 1.0, 1.0]


def test_licensed_sets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    turns = [{"id": "m1", "speaker": "Ann", "text": "I sing.", "session": 1, "date": "2024-05-01"}]
    questions = [{"text": "Who sings?", "evidence": ["m1"], "category": 1},
                 {"text": "Who dances?", "evidence": ["m9"]}]  # fmt: skip
    path.write_text(json.dumps([{"id": "a", "turns": turns, "questions": questions}]))
    (archive,) = read_plain(path)
    assert archive.entries == [Entry("Ann", "I sing.", 1, archive.entries[0].day)]
    assert archive.questions == [Question("multi", (0,), "Who sings?")]
    assert isinstance(archive, Archive)
