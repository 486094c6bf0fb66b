"""Which facts of a memory hold no more, and the notes behind them (R6)."""

from __future__ import annotations

from datetime import UTC, datetime

from memci.domain.memory.changed_facts import EndedParts, ended_facts, with_notes
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
