"""Which facts of a memory hold no more, and the notes behind them (R6)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.domain.memory.changed_facts import (
    EndedParts,
    ended_facts,
    with_notes,
    without_ended,
)
from memci.language.clauses import spans_without_labels

SINCE = datetime(2025, 6, 1, tzinfo=UTC)


def noted(text: str, part: str) -> str:
    return with_notes(text, [1], [EndedParts(frozenset([1]), (part,), SINCE)])


def test_a_note_stands_behind_whole_words():
    text = noted("I live in Bernau. I live in Bern.", "I live in Bern")
    assert text.startswith("I live in Bernau. I live in Bern (")
    assert noted("I live in Bernau.", "I live in Bern") == "I live in Bernau."


def test_a_quoted_question_is_not_told():
    text = "[Assistant: Where do you live?]\nUser: In Bern."
    found = ended_facts(text, spans_without_labels(text))
    assert found is not None
    assert found.whole
    assert [each.strip(".") for each in found.parts] == ["In Bern"]


def test_a_memory_that_tells_a_short_fact_more_is_not_over_as_a_whole():
    text = "我开一辆红色的丰田，有两个孩子。"
    car, _ = spans_without_labels(text)
    found = ended_facts(text, [car])
    assert found is not None
    assert (found.parts, found.whole) == (("我开一辆红色的丰田",), False)


def test_two_parts_of_one_text_get_notes_in_any_order():
    later = datetime(2025, 7, 1, tzinfo=UTC)
    known = [
        EndedParts(frozenset([1]), ("I live in Bern",), SINCE),
        EndedParts(frozenset([1]), ("I live in Bern and work there",), later),
    ]
    text = with_notes("I live in Bern and work there.", [1], known)
    assert "Bern (until 2025-06-01) and work there (until 2025-07-01)." in text


def test_long_texts_of_short_lines_are_looked_through_at_once():
    text = "User: a\n" * 20_000
    found = ended_facts(text, [(6, 7)])
    assert found is not None
    assert not found.whole


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("The dentist is tomorrow (2025-05-06) at nine", "The dentist is tomorrow at nine, ok?"),
        ("下周一（2025-05-12）去北京", "我下周一去北京，开会。"),
        ("and I live in Bern with my cat", "Ann: I live in Bern with my cat."),
    ],
)
def test_a_part_is_noted_in_its_message_and_in_a_shortened_memory(part, text):
    assert "2025-06-01" in noted(text, part)


@pytest.mark.parametrize(
    ("text", "parts", "left"),
    [
        ("Ann: I nurse, and I live in Bern.", ["and I live in Bern"], "Ann: I nurse."),
        ("Ann: I live in Bern. I nurse.", ["I live in Bern"], "Ann: I nurse."),
        ("Ann: I live in Bern, and I nurse.", ["I live in Bern"], "Ann: I nurse."),
        ("I nurse, I live in Bern, and I sing.", ["I live in Bern"], "I nurse, and I sing."),
        ("I live in Bern.\nI nurse.", ["I live in Bern"], "I nurse."),
        ("安：我住在伯尔尼，在医院上班。", ["我住在伯尔尼"], "安：在医院上班。"),
        ("我在医院上班，而且养了一只猫。", ["而且养了一只猫"], "我在医院上班。"),
        ("Ann: I live in Bern, and I nurse.", ["I live in Bern", "and I nurse"], ""),
        ("I live in Bern", ["I live in Bern"], ""),
        ("I live in Bernau.", ["I live in Bern"], "I live in Bernau."),
    ],
)
def test_what_holds_no_more_is_left_out(text, parts, left):
    assert without_ended(text, parts) == left
