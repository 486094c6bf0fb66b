"""``memci.read.summarise`` summarises messages and texts (R20)."""

from __future__ import annotations

import pytest

from memci.message import note_metadata
from memci.reading.handover import Summarise
from memci.schemas.tools.memory import Summary, SummaryRequest
from tests.support.stored import Reader, Stored


def summary(reader: Reader, *seqs: int, texts: tuple[str, ...] = (), most: int = 300) -> Summary:
    request = SummaryRequest(seqs=seqs, texts=texts, max_tokens=most)
    return Summarise(*reader.parts).run("alice", request)


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("What is the capital of Peru?", "The user likes green tea."),
        ("秘鲁的首都是哪里？", "用户喜欢绿茶。"),
    ],
    ids=["en", "zh"],
)
def test_a_note_of_an_agent_has_no_speaker(
    reader: Reader, alice: Stored, question: str, note: str
) -> None:
    seqs = alice.say(question), alice.say(note, "assistant", metadata=note_metadata())
    assert summary(reader, *seqs).text.splitlines() == [f"user: {question}", note]
    assert summary(reader, texts=(note,)).text == note


@pytest.mark.parametrize(
    "messages",
    [
        [("user", "Hello"), ("assistant", "Hello! How are you today?")],
        [("user", "ok")],
        [("user", "  - one\n\n  - two")],
        [("tool", "x")],
        [("user", "你好"), ("assistant", "您好！")],
        [("user", "Which city? " * 9), ("assistant", "We decided to go to Lisbon. " * 30)],
    ],
)
@pytest.mark.parametrize("most", [16, 60, 300])
def test_a_summary_is_never_longer_than_its_messages(
    reader: Reader, alice: Stored, messages: list[tuple[str, str]], most: int
) -> None:
    seqs = [alice.say(text, role) for role, text in messages]
    made = summary(reader, *seqs, most=most)
    assert made.text
    assert made.tokens <= min(most, made.of_tokens)


def test_a_text_that_cannot_be_shortened_is_unchanged(reader: Reader, alice: Stored) -> None:
    seq = alice.say("x", "tool")
    assert summary(reader, seq).text == "tool: x"


def test_the_summary_of_blank_texts_is_empty(reader: Reader, alice: Stored) -> None:
    made = summary(reader, alice.say("  "), texts=("", " "))
    assert (made.text, made.tokens, made.of_tokens) == ("", 0, 0)


def test_a_previous_summary_is_continued(reader: Reader, alice: Stored) -> None:
    seq = alice.say("We sail to Bergen on Monday, and Tom steers the boat.")
    request = SummaryRequest(previous="user: We decided to rent the Aurora.", seqs=(seq,))
    made = Summarise(*reader.parts).run("alice", request)
    assert made.text.splitlines()[0] == "user: We decided to rent the Aurora."
    assert "Bergen" in made.text
    alone = Summarise(*reader.parts).run("alice", SummaryRequest(previous=request.previous))
    assert alone.text == request.previous
