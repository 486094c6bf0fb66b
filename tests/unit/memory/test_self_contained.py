"""Segments get speakers and dates, so that each can be read alone (R4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.self_contained_text import self_contained
from memci.message import Message, Role
from tests.support.examples import examples

MONDAY = datetime(2023, 5, 8, 23, tzinfo=UTC)


def message(
    text: str,
    name: str | None = None,
    *,
    role: Role = Role.USER,
    at: datetime = MONDAY,
    seq: int = 1,
) -> Message:
    return Message(seq, str(seq), role, text, at, name)


def test_each_turn_has_its_speaker_and_its_own_day() -> None:
    ada = message("I ran yesterday.", "Ada")
    bo = message("I swim today!", "Bo", at=MONDAY + timedelta(hours=2, days=1))

    assert self_contained("I ran yesterday.\nI swim today!", [ada, bo]) == (
        "Ada: I ran yesterday (2023-05-07).\nBo: I swim today!"
    )
    assert self_contained("我上周五到的", [message("我上周五到的", "小明")]) == (
        "小明: 我上周五（2023-05-05）到的"
    )


def test_parts_of_long_messages_belong_to_their_speakers() -> None:
    ada = message("One. Two.\n\nThree yesterday.", "Ada")
    bo = message("Four. Five.", "Bo")

    assert self_contained("Three yesterday.\nFour.", [ada, bo]) == (
        "Ada: Three yesterday (2023-05-07).\nBo: Four."
    )
    assert self_contained("Two.", [ada]) == "Ada: Two."


def test_a_repeated_text_gets_its_speakers_in_order() -> None:
    ada, bo = message("No. No.", "Ada"), message("No. No.", "Bo")

    assert self_contained("No.\nNo.", [ada, bo]) == "Ada: No.\nBo: No."


def test_no_name_is_added_if_it_is_missing_or_already_there() -> None:
    assert self_contained("I ran.", [message("I ran.")]) == "I ran."
    assert self_contained("ada: I ran.", [message("ada: I ran.", "Ada")]) == "ada: I ran."


def test_no_dates_are_added_to_tool_results() -> None:
    page = message("Yesterday it rained.", "weather", role=Role.TOOL)

    assert self_contained("Yesterday it rained.", [page]) == "weather: Yesterday it rained."


def test_text_of_no_message_is_unchanged() -> None:
    ada = message("I ran yesterday.", "Ada")

    assert self_contained("I swam yesterday.", [ada]) == "I swam yesterday."
    assert self_contained("", [ada]) == ""


words = st.lists(st.sampled_from(["I", "ran", "yesterday", "no", "我", "昨天", "\n"]), max_size=6)


@settings(max_examples=examples(500))
@given(st.lists(words.map(" ".join), min_size=1, max_size=4), st.data())
def test_no_word_is_lost_or_moved(texts: list[str], data: st.DataObject) -> None:
    messages = [message(text, "Ada", seq=seq) for seq, text in enumerate(texts, 1) if text.strip()]
    joined = "\n".join(each.text for each in messages)
    start = data.draw(st.integers(0, len(joined)))
    text = joined[start:]
    rest = iter(self_contained(text, messages))

    assert all(character in rest for character in text)
