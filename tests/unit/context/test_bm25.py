"""The words of a question are found in texts without an index."""

from __future__ import annotations

import pytest

from memci.domain.search.bm25 import folded, probes_of, scored
from memci.domain.search.candidate import UNTIMED, Candidate, Source
from memci.smallmodel.offline.index_terms import OfflineLexicon

TERMS = OfflineLexicon().terms


def texts_found(question: str, *texts: str) -> list[str]:
    """Return the texts found for a question: first by the probes of SQL, then by score."""
    asked = TERMS(question)
    probes = probes_of(asked)
    matched = [each for each in texts if any(probe in folded(each) for probe in probes)]
    kept = [Candidate(Source.PIN, key, text, (), UNTIMED, None) for key, text in enumerate(matched)]
    return [each.text for each in scored(kept, asked, TERMS, None)]


@pytest.mark.parametrize(
    "word",
    [
        "reliability",
        "flexibility",
        "possibility",
        "capability",
        "dry",
        "try",
        "fly",
        "cry",
        "lying",
        "dying",
        "skies",
        "sky",
        "use",
        "using",
        "hoped",
        "early",
        "1,000",
        "1000",
        "1,000.50",
        "3.14",
        "ＡＢＣ",
        "１２３",
        "café",
        "Straße",
        "渡轮",
        "茶",
    ],
)
def test_the_same_word_is_found(word: str):
    assert texts_found(word, f"{word} first", f"no, {word}.", "other words") == [
        f"{word} first",
        f"no, {word}.",
    ]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("reliable", "reliability"),
        ("reliability", "reliably"),
        ("dry", "dried"),
        ("drying", "dry"),
        ("sky", "skies"),
        ("skies", "sky"),
        ("lie", "lying"),
        ("lying", "lies"),
        ("using", "use"),
        ("1000", "1,000"),
        ("1,000", "1000"),
        ("12345.5", "12,345.5"),
        ("abc", "ＡＢＣ"),
        ("ＡＢＣ", "abc"),
        ("python", "用Python写的"),
        ("Python好吗", "pythons"),
    ],
)
def test_another_form_of_a_word_is_found(asked: str, written: str):
    assert texts_found(asked, f"It is {written}, we said") == [f"It is {written}, we said"]


def test_a_text_with_only_a_part_of_a_word_is_not_found():
    assert texts_found("dry cat 1000 port", "drill concat 1,000,000 ports.") == [
        "drill concat 1,000,000 ports."
    ]
    assert texts_found("dry cat 1000", "drill concat 1,000,000 report") == []


def test_words_of_a_text_are_cut_only_for_latin_terms():
    cut: list[str] = []

    def terms(text: str) -> list[str]:
        cut.append(text)
        return TERMS(text)

    kept = [Candidate(Source.PIN, 1, "船票 is in the blue folder", (), UNTIMED, None)]
    assert scored(kept, TERMS("船票在哪里"), terms, None)
    assert cut == []
    assert scored(kept, TERMS("船票 folders"), terms, None)
    assert cut == ["folder"]
