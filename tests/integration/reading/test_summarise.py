"""``memci.read.summarise``: what was said, in short (R20)."""

from __future__ import annotations

import pytest

from memci.message import note_metadata
from memci.reading.handover import Summarise
from memci.schemas.memory_tools import Summary, SummaryRequest
from tests.support.stored import Reader, Stored


def summary(reader: Reader, *seqs: int, texts: tuple[str, ...] = (), most: int = 300) -> Summary:
    request = SummaryRequest(seqs=seqs, texts=texts, max_tokens=most)
    return Summarise(*reader.parts).run("alice", request)


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ("What is the capital of Peru?", "The user likes green tea."),
        ("秘鲁的首都是哪里？", "用户喜欢绿茶。"),
    ],
    ids=["en", "zh"],
)
def test_what_an_agent_noted_is_said_by_nobody(
    reader: Reader, alice: Stored, asked: str, note: str
) -> None:
    seqs = alice.say(asked), alice.say(note, "assistant", metadata=note_metadata())
    assert summary(reader, *seqs).text.splitlines() == [f"user: {asked}", note]
    assert summary(reader, texts=(note,)).text == note


@pytest.mark.parametrize(
    "said",
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
def test_a_summary_is_never_longer_than_what_it_sums_up(
    reader: Reader, alice: Stored, said: list[tuple[str, str]], most: int
) -> None:
    seqs = [alice.say(text, role) for role, text in said]
    made = summary(reader, *seqs, most=most)
    assert made.text
    assert made.tokens <= min(most, made.of_tokens)


def test_what_cannot_be_said_in_less_is_given_as_it_is(reader: Reader, alice: Stored) -> None:
    seq = alice.say("x", "tool")
    assert summary(reader, seq).text == "tool: x"


def test_nothing_is_summed_up_in_nothing(reader: Reader, alice: Stored) -> None:
    made = summary(reader, alice.say("  "), texts=("", " "))
    assert (made.text, made.tokens, made.of_tokens) == ("", 0, 0)


def test_a_summary_of_what_was_said_before_is_gone_on_with(reader: Reader, alice: Stored) -> None:
    seq = alice.say("We sail to Bergen on Monday, and Tom steers the boat.")
    request = SummaryRequest(previous="user: We decided to rent the Aurora.", seqs=(seq,))
    made = Summarise(*reader.parts).run("alice", request)
    assert made.text.splitlines()[0] == "user: We decided to rent the Aurora."
    assert "Bergen" in made.text
    alone = Summarise(*reader.parts).run("alice", SummaryRequest(previous=request.previous))
    assert alone.text == request.previous
