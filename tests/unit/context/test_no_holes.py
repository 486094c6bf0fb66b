"""What no part of a list tells has a place in one, where there is room (R13 to R15)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memci.domain.context.assembly import Assembly, assemble
from memci.domain.context.candidate import Candidate, message_candidate
from memci.domain.context.interaction import interactions
from memci.domain.context.materials import Covered, Materials
from memci.domain.context.parts import Section
from memci.domain.language import Language
from memci.domain.message import Message, Role
from memci.smallmodel.offline.sentences import sentence_spans
from tests.support.talk import BEGIN, in_order, words

CALL = {"id": "c", "type": "function", "function": {"name": "hotels", "arguments": "{}"}}
HOTELS = "".join(f"Hotel {name} takes dogs and has a garden. " for name in "ABCDEFGHIJKL")
RESULT = f"{HOTELS[:240]}Hotel Falke is called at 4471. {HOTELS[240:]}"


def talk(*said: str | None, start: int = 1) -> list[Message]:
    """User and assistant in turn; None: a call and its result in place of words."""
    messages: list[Message] = []
    for place, text in enumerate(said, start):
        role = Role.USER if place % 2 else Role.ASSISTANT
        message = Message(0, "", role, text, BEGIN, session_id="s1")
        if text is None:
            called = replace(message, role=Role.ASSISTANT, tool_calls=(CALL,))
            result = replace(message, role=Role.TOOL, content=RESULT, tool_call_id="c")
            messages += [called, result]
        else:
            messages.append(message)
    return [
        replace(each, seq=seq, id=f"m{seq}", said_at=BEGIN + timedelta(seconds=seq))
        for seq, each in enumerate(messages, 1)
    ]


def listed(
    said: list[Message], *found: Candidate, budget: int, summary: tuple[str, int] | None = None,
    grows: bool = True,
) -> Assembly:  # fmt: skip
    text, through = summary or (None, 0)
    materials = Materials(
        None, "What else?", interactions(said), 2, in_order(*found), Language.ENGLISH,
        spans=sentence_spans, grows=grows, summary=text,
        covered=Covered("s1", 1, through) if summary else None,
    )  # fmt: skip
    return assemble(materials, budget, words)


def shown(assembly: Assembly, section: Section) -> str:
    return "".join(item.text for item in assembly.items if item.section is section)


def test_what_a_result_in_brief_does_not_say_is_found() -> None:
    said = talk("Find hotels.", None, "Here they are.", "Thanks.")
    result = said[2]
    made = listed(said, message_candidate(result), budget=2_000)
    assert "4471" not in shown(made, Section.RECENT)
    assert "4471" in shown(made, Section.HISTORY)
    (brief,) = (item for item in made.items if item.seqs == (3,) and item.shortened)
    assert brief.section is Section.RECENT
    short = [replace(each, content="None.") if each is result else each for each in said]
    made = listed(short, message_candidate(short[2]), budget=2_000)
    assert shown(made, Section.HISTORY) == "", "all of it stands there"


def test_calls_come_back_where_there_is_room_in_the_end() -> None:
    said = talk("Find hotels.", None, "Here they are.")
    least = listed(said, budget=10_000).tokens
    assert [each for item in listed(said, budget=least).items for each in item.seqs] == [1, 2, 3, 4]
    fewer = listed(said, budget=least - 1)
    assert [each for item in fewer.items for each in item.seqs] == [1, 4]


FACTS = [text for n in range(1, 9) for text in (f"House {n} is blue.", f"Noted {n} then.")]


@pytest.mark.parametrize("through", [4, 8])
def test_behind_a_summary_stands_what_it_does_not_tell_yet(through: int) -> None:
    said = talk(*FACTS)
    summary = "\n".join(f"user: House {n} is blue." for n in range(1, through // 2 + 1))
    made = listed(said, budget=1_000, summary=(summary, through))
    told = shown(made, Section.SUMMARY) + shown(made, Section.RECENT)
    assert [told.count(f"House {n} is blue.") for n in range(1, 9)] == [1] * 8
    there = {seq for item in made.items for seq in item.seqs}
    assert there == set(range(through + 1, 17))
    found = [message_candidate(each) for each in said]
    again = listed(said, *found, budget=1_000, summary=(summary, through))
    assert not set(range(through + 1, 17)) & {
        seq for item in again.items if item.section is Section.HISTORY for seq in item.seqs
    }


def test_of_what_is_too_long_the_latest_is_told() -> None:
    said = talk(*FACTS)
    made = listed(said, budget=200, summary=("user: House 1 is blue.\nuser: House 2 is blue.", 4))
    told = shown(made, Section.SUMMARY)
    assert "Noted 6" in told
    assert "House 1" not in told


def test_without_a_summary_the_last_before_the_recent_turns_stand_in_brief() -> None:
    said = talk(*FACTS)
    made = listed(said, budget=1_000)
    assert [f"House {n} " in shown(made, Section.SUMMARY) for n in range(1, 9)] == [
        *[False] * 4, True, True, False, False,
    ]  # fmt: skip
    assert shown(listed(said, budget=1_000, grows=False), Section.SUMMARY) == "", "as it is asked"
