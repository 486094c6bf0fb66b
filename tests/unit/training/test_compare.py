"""The paired bootstrap by which rankings are compared."""

from __future__ import annotations

import random

from training.compare import difference


def test_the_same_gain_at_each_question_is_certain():
    found = difference([0.75, 1.0, 0.5], [0.5, 0.75, 0.25])
    assert found == (0.25, 0.25, 0.25)


def test_a_small_gain_is_significant_only_with_enough_questions():
    chance = random.Random(1)
    ours = [float(chance.random() < 0.6) for _ in range(2_000)]
    other = [float(chance.random() < 0.5) for _ in range(2_000)]
    few, many = difference(ours[:20], other[:20]), difference(ours, other)
    assert few.low < 0 < few.high
    assert 0 < many.low < many.mean < many.high
    assert difference(other, ours).high < 0
