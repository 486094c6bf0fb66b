"""Messages without room have a line each in the session summary, as far as these fit (R15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memci.domain.context.materials import Materials
from memci.domain.context.recent_messages import Recent
from memci.domain.context.rendering import day_words
from memci.domain.context.session_summary import SummaryBlock, session_summary_block
from memci.domain.session.interaction import interactions
from memci.domain.token_counts import Count
from memci.language.detection import Language
from memci.language.sentences import Span, sentence_spans
from memci.message import Message, Role
from tests.support.talk import words

BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
ROOM = 10_000


def summary_block(
    messages: Sequence[Message],
    ceiling: int,
    count: Count = words,
    held: Sequence[int] = (),
    spans: Callable[[str], Sequence[Span]] = sentence_spans,
) -> SummaryBlock:
    """Return the summary of messages without room, of at most so many tokens."""
    window = interactions(messages)
    materials = Materials(
        None, None, window, len(window), [], Language.ENGLISH, spans=spans,
        today=datetime(2026, 11, 22, tzinfo=UTC).date(),
    )  # fmt: skip
    recent = Recent((), (), tuple(window), 0, ())
    # The block gets 15 % of the budget.
    return session_summary_block(materials, recent, set(held), ceiling * 100 // 15, ROOM, count)


def lines(before: SummaryBlock) -> list[str]:
    text = "".join(part.utterance.content or "" for part in before.parts)
    return text.splitlines()[1:]


def talk(*texts: str) -> list[Message]:
    roles = (Role.USER, Role.ASSISTANT)
    return [
        Message(seq, f"m{seq}", roles[1 - seq % 2], text, BEGIN, session_id="s1")
        for seq, text in enumerate(texts, start=1)
    ]


def daily(days: int) -> list[Message]:
    return [
        Message(seq, f"m{seq}", Role.USER, f"Crate {seq} is full of tea.",
                BEGIN + timedelta(days=seq % 300), session_id="s1")
        for seq in range(1, days + 1)
    ]  # fmt: skip


@pytest.mark.parametrize("ceiling", [40, 41, 45, 52, 100, 333])
def test_lines_and_days_fill_their_share_of_the_budget(ceiling: int):
    turns = daily(90)
    before = summary_block(turns, ceiling)
    assert before.tokens <= ceiling
    days, entries = lines(before)[::2], lines(before)[1::2]
    assert all("2026" in day for day in days)
    assert entries == [f"user: {each.content}" for each in turns[90 - len(entries) :]]
    missing = turns[90 - len(entries) - 1]
    day = day_words(missing.said_at.date(), Language.ENGLISH)
    assert before.tokens + words(f"{day}\nuser: {missing.content}\n") > ceiling


def test_the_tokens_of_the_block_are_counted_in_linear_time():
    counted = []

    def count(text: str) -> int:
        counted.append(len(text))
        return words(text)

    before = summary_block(daily(300), 1_200, count)
    length = sum(len(each) for each in lines(before))
    assert length > 3_000
    # Each line, its parts, its day, and the whole.
    assert sum(counted) < 8 * length


@pytest.mark.parametrize(
    "turns",
    [
        ("Which of the boats do we take to the island?", "Sounds good!"),
        ("Which of the boats do we take to the island?", "Thanks!", "Ok.", "好的。"),
    ],
)
def test_an_acknowledgement_follows_its_message_or_is_left_out(turns: tuple[str, ...]):
    whole = summary_block(talk(*turns), 200)
    assert [each.split(": ")[1] for each in lines(whole)[1:]] == list(turns)
    least = whole.tokens - 1
    assert summary_block(talk(*turns), least).parts == ()
    # The pinned message is shown, but not directly above.
    assert summary_block(talk(*turns), 200, held=[1]).parts == ()


def test_an_informative_answer_may_stand_alone():
    turns = talk("Do we take the red boat, that lies at the island with the lighthouse?", "No.")
    assert lines(summary_block(turns, 30))[1:] == ["assistant: No."]


@pytest.mark.parametrize("turns", [4, 5, 6])
def test_the_block_is_stable_while_the_first_recent_turn_is_the_same(turns: int):
    window = interactions(talk(*(f"Crate {number} is full of tea." for number in range(60))))
    began = 26
    materials = Materials(
        None, None, window[: began + turns], 8, [], Language.ENGLISH, spans=sentence_spans
    )
    taken, older = window[began : began + turns], window[: began + turns - 8]
    recent = Recent(tuple(taken), tuple(older), tuple(window[len(older) : began]), 0, ())
    before = session_summary_block(materials, recent, set(), ROOM, ROOM, words)
    expected = [f"Crate {number} is full of tea." for number in range(2 * (began - 8), 2 * began)]
    assert [each.split(": ")[1] for each in lines(before)] == expected


def test_only_the_beginning_of_a_very_long_message_is_read() -> None:
    read: list[int] = []

    def spans(text: str) -> Sequence[Span]:
        read.append(len(text))
        return sentence_spans(text)

    shown = lines(summary_block(talk("Tea is hot. " * 5_000, "Yes."), 100, spans=spans))
    assert "Tea is hot." in str(shown)
    assert max(read) <= 50_000
