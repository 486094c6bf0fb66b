"""The map of question vectors is fitted on questions and their evidence (E1)."""

from __future__ import annotations

from datetime import date

import numpy as np

from memci.config.settings import Settings
from memci.smallmodel.offline.e5_embedder import DIMENSION, OfflineEmbedder, mapped
from training.collect import plain_embedder
from training.corpus import Archive, Entry, Question
from training.query_map import fit, pairs_of

DAY = date(2026, 3, 2)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_the_map_moves_unseen_questions_towards_their_answers():
    random = np.random.default_rng(3)
    turn = np.linalg.qr(random.standard_normal((DIMENSION, DIMENSION)))[0]
    questions = unit(random.standard_normal((1_500, DIMENSION)) + 8 * np.eye(DIMENSION)[0])
    answers = unit((questions - questions.mean(axis=0)) @ turn)
    made = fit([(questions[:200], answers[:200]), (questions[200:1_400], answers[200:1_400])])
    assert made.shape == (1 + DIMENSION, DIMENSION)
    new, wanted = questions[1_400:].astype(np.float32), answers[1_400:]
    moved = mapped(new, made.astype(np.float32))
    gains = ((moved - new) * wanted).sum(axis=1)
    assert gains.min() > 0.1
    assert np.allclose(mapped(new[0], made.astype(np.float32)), moved[0], atol=1e-6)


def test_pairs_are_questions_and_the_directions_of_their_evidence():
    talk = Archive("talk", [Entry("Ann", "I moved to Zurich.", 1, DAY),
                            Entry("Tom", "The cat sleeps.", 1, DAY)])  # fmt: skip
    talk.questions += [Question("single", (0,), "Where does Ann live?"), Question("single", ())]
    questions, directions = pairs_of(plain_embedder(), [talk])
    assert questions.shape == directions.shape == (1, DIMENSION)
    first, second = plain_embedder().embed([each.searched for each in talk.entries])
    assert np.allclose(directions[0], unit(first - second), atol=1e-3)
    assert np.allclose(np.linalg.norm(questions, axis=1), 1.0, atol=1e-3)


def test_the_built_in_map_brings_questions_nearer_to_answers_than_to_other_texts():
    built_in, plain = OfflineEmbedder(Settings().embedder_folder), plain_embedder()
    pairs = (
        ("Where does Ann live now?", "Ann: I moved to Zurich in May.", "Tom: Where is my pen?"),
        ("小李养了什么宠物？", "小李：我家的猫叫豆豆。", "小王：你吃了什么？"),
        ("What is Tom allergic to?", "Tom: Nuts make me ill.", "Ann: What do you think of it?"),
    )

    def lead(embedder: OfflineEmbedder) -> float:
        leads = []
        for question, answer, other in pairs:
            (asked,) = embedder.embed_questions([question])
            near, far = embedder.embed([answer, other])
            leads.append(float(asked @ near - asked @ far))
        return sum(leads)

    assert lead(built_in) > lead(plain)
