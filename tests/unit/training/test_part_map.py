"""The map of parts of texts is fitted on entries that follow each other (E6)."""

from __future__ import annotations

from datetime import date

import numpy as np

from training.corpus import Archive, Entry
from training.part_map import Text, fit, means_of, texts_of

DAY = date(2026, 3, 2)
TALK = Archive(
    "talk", [Entry("Ann", text, 1, DAY) for text in ("I moved.", "猫睡了。", "Tea is ready.") * 3]
)


def test_texts_hold_entries_that_follow_each_other():
    texts = list(texts_of(TALK, np.random.default_rng(1)))
    parts = [each.text[slice(*span)] for each in texts for span in each.spans]
    assert parts == [each.text for each in TALK.entries]
    assert all(len(each.spans) <= 6 for each in texts)
    assert len(texts) < len(parts)


def test_the_map_reads_the_means_of_a_part_and_of_its_text():
    (rows,) = means_of([Text("I moved. Tea is ready.", [(0, 8), (9, 22)])])
    assert rows.shape == (2, 769)
    own, rest = rows[:, :384], rows[:, 384:-1]
    assert np.allclose(rest[0], rest[1])
    assert not np.allclose(own[0], own[1])
    assert np.allclose(rows[:, -1], 1)


def test_the_map_predicts_unseen_vectors():
    random = np.random.default_rng(3)
    read = random.standard_normal((3_000, 769)).astype(np.float32)
    read[:, -1] = 1
    truth = random.standard_normal((769, 384)).astype(np.float32)
    made = fit(read[:2_500], read[:2_500] @ truth)
    error = read[2_500:] @ made - read[2_500:] @ truth
    assert np.square(error).mean() < 0.1 * np.square(read[2_500:] @ truth).mean()
