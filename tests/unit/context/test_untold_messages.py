"""A message that no part of a list shows is included if there is room (R13 to R15)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memci.domain.context.assemble import Assembly
from memci.domain.context.materials import Covered, Materials
from memci.domain.context.message_list import Section
from memci.domain.search.candidate import Candidate, message_candidate
from memci.domain.session.interaction import interactions
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from tests.support.talk import BEGIN, assemble, in_order, words

CALL = {"id": "c", "type": "function", "function": {"name": "hotels", "arguments": "{}"}}
HOTELS = "".join(f"Hotel {name} takes dogs and has a garden. " for name in "ABCDEFGHIJKL")
RESULT = f"{HOTELS[:240]}Hotel Falke is called at 4471. {HOTELS[240:]}"


def talk(*texts: str | None, start: int = 1) -> list[Message]:
    """Return messages of user and assistant in turn; None stands for a call and its result."""
    messages: list[Message] = []
    for place, text in enumerate(texts, start):
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
    chat: list[Message], *found: Candidate, budget: int, summary: tuple[str, int] | None = None,
    grows: bool = True,
) -> Assembly:  # fmt: skip
    text, through = summary or (None, 0)
    materials = Materials(
        None, "What else?", interactions(chat), 2, in_order(*found), Language.ENGLISH,
        spans=sentence_spans, grows=grows, summary=text,
        covered=Covered("s1", 1, through) if summary else None,
    )  # fmt: skip
    return assemble(materials, budget, words)


def shown(assembly: Assembly, section: Section) -> str:
    return "".join(item.text for item in assembly.items if item.section is section)


def test_a_shortened_tool_result_is_retrieved_in_full() -> None:
    chat = talk("Find hotels.", None, "Here they are.", "Thanks.")
    result = chat[2]
    made = listed(chat, message_candidate(result), budget=2_000)
    assert "4471" not in shown(made, Section.RECENT)
    assert "4471" in shown(made, Section.HISTORY)
    (brief,) = (item for item in made.items if item.seqs == (3,) and item.shortened)
    assert brief.section is Section.RECENT
    short = [replace(each, content="None.") if each is result else each for each in chat]
    made = listed(short, message_candidate(short[2]), budget=2_000)
    assert shown(made, Section.HISTORY) == "", "all of it stands there"


def test_tool_calls_are_restored_if_there_is_room() -> None:
    chat = talk("Find hotels.", None, "Here they are.")
    least = listed(chat, budget=10_000).tokens
    assert [each for item in listed(chat, budget=least).items for each in item.seqs] == [1, 2, 3, 4]
    fewer = listed(chat, budget=least - 1)
    assert [each for item in fewer.items for each in item.seqs] == [1, 4]


FACTS = [text for n in range(1, 9) for text in (f"House {n} is blue.", f"Noted {n} then.")]


def test_restored_tool_calls_displace_no_turn() -> None:
    chat = talk("One word.", "Good.", "Find hotels.", None, "Here they are.")
    for budget in range(30, listed(chat, budget=10_000).tokens + 1):
        fewer = [each for each in chat if each.role is not Role.TOOL and not each.tool_calls]
        bare = {seq for item in listed(fewer, budget=budget).items for seq in item.seqs}
        there = {seq for item in listed(chat, budget=budget).items for seq in item.seqs}
        assert (1 in there) >= (1 in bare), budget


@pytest.mark.parametrize("through", [4, 8])
def test_after_a_summary_come_the_messages_that_it_does_not_cover(through: int) -> None:
    chat = talk(*FACTS)
    summary = "\n".join(f"user: House {n} is blue." for n in range(1, through // 2 + 1))
    made = listed(chat, budget=1_000, summary=(summary, through))
    text = shown(made, Section.SUMMARY) + shown(made, Section.RECENT)
    assert [text.count(f"House {n} is blue.") for n in range(1, 9)] == [1] * 8
    shown_seqs = {seq for item in made.items for seq in item.seqs}
    assert shown_seqs == set(range(through + 1, 17))
    found = [message_candidate(each) for each in chat]
    again = listed(chat, *found, budget=1_000, summary=(summary, through))
    assert not set(range(through + 1, 17)) & {
        seq for item in again.items if item.section is Section.HISTORY for seq in item.seqs
    }


def test_if_the_summary_is_too_long_its_latest_lines_are_kept() -> None:
    chat = talk(*FACTS)
    summary = ("user: House 1 is blue.\nuser: House 2 is blue.", 4)
    blocks = [shown(listed(chat, budget=each, summary=summary), Section.SUMMARY)
            for each in range(100, 500, 10)]  # fmt: skip
    places = [[f"House {n}" in each for n in (1, 2)] for each in blocks]
    assert [False, True] in places
    assert [True, False] not in places
    assert all("Noted 6" in each for each in blocks if "House 5" in each)
    assert any("House 2" in each and "House 5" not in each for each in blocks), "it has room beside"


def test_a_long_message_that_cannot_be_cut_takes_no_room_of_a_summary() -> None:
    chat = talk("I am allergic to nuts.", "Noted.", "Look at this.", "word " * 400, *FACTS[:6])
    made = listed(chat, budget=1_000, summary=("user: I am allergic to nuts.", 2))
    text = shown(made, Section.SUMMARY)
    assert "nuts" in text
    assert "word word" not in text
    assert "House 1" in text


def test_repeated_words_are_shown_again_and_all_messages_are_listed() -> None:
    chat = talk("We met.", "Good.", "Delete it?", "Yes, now.", "Keep it?", "No, never.", "Drop it?",
                "Yes, now.", *FACTS[:4])  # fmt: skip
    made = listed(chat, budget=1_000, summary=("user: We met.", 2))
    text = shown(made, Section.SUMMARY)
    assert text.count("Yes, now.") == 2
    (block,) = (item for item in made.items if item.section is Section.SUMMARY)
    assert block.seqs == (3, 4, 5, 6, 7, 8)
    assert not block.shortened
    long = "My uncle Bernard works there since May. Thanks to him we know it all by heart. " * 3
    chat = talk("We met.", "Good.", long, "Fine.", *FACTS[:4])
    made = listed(chat, budget=1_000, summary=("user: We met.", 2))
    (block,) = (item for item in made.items if item.section is Section.SUMMARY)
    assert block.shortened
    assert 3 in block.seqs


@pytest.mark.parametrize("summary", [None, ("user: We met.", 2)])
def test_the_summary_block_is_stable_while_turns_are_added(summary: tuple[str, int] | None) -> None:
    blocks = set()
    for count in range(20, 24):
        messages = talk(*(text for n in range(count) for text in (f"House {n}.", f"Noted {n}.")))
        window = interactions(messages)[-9:]
        text, through = summary or (None, 0)
        materials = Materials(
            None, "What else?", window, 2, [], Language.ENGLISH, spans=sentence_spans, grows=True,
            began=37, summary=text, covered=Covered("s1", 1, through) if summary else None,
        )  # fmt: skip
        blocks.add(shown(assemble(materials, 1_000, words), Section.SUMMARY))
    (block,) = blocks
    assert "House 17." in block


def test_a_window_that_does_not_reach_back_has_no_summary_block() -> None:
    chat = talk(*FACTS)
    materials = Materials(
        None, "What else?", interactions(chat), 2, [], Language.ENGLISH, spans=sentence_spans,
        grows=True, reaches_back=False,
    )  # fmt: skip
    assert shown(assemble(materials, 1_000, words), Section.SUMMARY) == ""


def test_messages_of_another_session_are_not_summarised() -> None:
    chat = talk(*FACTS)
    elsewhere = [replace(each, session_id="s2") if each.seq <= 10 else each for each in chat]
    text = shown(listed(elsewhere, budget=1_000), Section.SUMMARY)
    assert "House 6" in text
    assert "House 5" not in text


def test_without_a_summary_the_turns_before_the_recent_ones_are_shortened() -> None:
    chat = talk(*FACTS)
    made = listed(chat, budget=1_000)
    assert [f"House {n} " in shown(made, Section.SUMMARY) for n in range(1, 9)] == [
        *[False] * 4, True, True, False, False,
    ]  # fmt: skip
    assert shown(listed(chat, budget=1_000, grows=False), Section.SUMMARY) == "", "as it is asked"
