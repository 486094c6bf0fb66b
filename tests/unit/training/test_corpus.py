"""The corpora that the ranking is trained on, and their format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.corpora import TALK, write
from training.corpus import KINDS, CorpusError, read_corpora, read_corpus


def test_entries_and_questions_are_read(tmp_path: Path) -> None:
    (archive,) = read_corpus(write(tmp_path, TALK))
    assert archive.name == "maya-and-tom"
    assert [(each.speaker, each.session) for each in archive.entries] == [
        ("Maya", 1), ("Tom", 1), ("Maya", 2),
    ]  # fmt: skip
    assert archive.entries[1].text == "The one by the canal?\nOr not?"
    assert archive.entries[2].text == "是的：周二，180 欧元。"
    assert archive.entries[2].day.isoformat() == "2024-03-09"
    first, second = archive.questions
    assert (first.kind, first.evidence, first.answer) == (
        "multi",
        (1, 2),
        "By the canal, 180 euros",
    )
    assert second.text == "Tom: I have 20 left.\nMaya: Then you can't pay."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("## a\nMaya: no session", "line 2"),
        ("## a\n@ 2024-03-02\nMaya: hi\n? single x\nWhat?\n= it", "no entry"),
        ("## a\n@ 2024-03-02\nMaya [x]: hi\n? guess x\nWhat?\n= it", "line 4"),
        ("## a\n@ 2024-03-02\nMaya [x]: hi\n? single x\nWhat?\nit", "begins with"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CorpusError, match=problem):
        list(read_corpus(write(tmp_path, text)))


def test_the_corpora_have_questions_of_all_kinds_in_both_languages() -> None:
    corpora = read_corpora()
    assert len(corpora) >= 12
    questions = [each for found in corpora.values() for one in found for each in one.questions]
    assert len(questions) >= 1_500
    assert {each.kind for each in questions} == set(KINDS)
    assert all(each.evidence and each.text and each.answer for each in questions)
    chinese = sum(not each.text.isascii() for each in questions)
    assert 0.3 < chinese / len(questions) < 0.7
