"""What a standing block holds whole is not brought again (R14)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memci.domain.context.assemble import Assembly
from memci.domain.context.materials import Covered, Materials
from memci.domain.context.message_list import LeftOut, Section
from memci.domain.pages.pins import Pin
from memci.domain.search.candidate import Candidate, Source, message_candidate
from memci.domain.session.interaction import interactions
from memci.language.detection import Language
from memci.language.key_messages.rules import PinKind
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from tests.support.talk import BEGIN, assemble, in_order, words

SUMMARY = (
    "2026-03-02\nuser: We roll back with make undo.\nuser: Ann keeps the key.\n"
    "助手：我们每周五发布新版本。\nuser: Shall we ask?"
)
TURNS = (
    "Thanks! We roll back with make undo. Ann keeps the key.", "我们每周五发布新版本。",
    "We roll back with make undo, after asking.", "Good.", "What else?", "Nothing.",
)  # fmt: skip


def talk(*texts: str, session: str | None = "s1") -> list[Message]:
    return [
        Message(seq, f"m{seq}", Role.ASSISTANT if seq % 2 == 0 else Role.USER, text,
                BEGIN + timedelta(minutes=seq), session_id=session)
        for seq, text in enumerate(texts, start=1)
    ]  # fmt: skip


def listed(
    said: list[Message], found: list[Candidate], *, recent: int, covered: Covered | None = None,
    summary: str | None = None, pins: tuple[Pin, ...] = (), budget: int = 2_000,
    query: str | None = None,
) -> Assembly:  # fmt: skip
    materials = Materials(
        None, query, interactions(said), recent, in_order(*found), Language.ENGLISH,
        pins=pins, summary=summary, covered=covered, spans=sentence_spans,
    )  # fmt: skip
    return assemble(materials, budget, words)


def seqs(assembly: Assembly, section: Section) -> list[int]:
    return [each for item in assembly.items if item.section is section for each in item.seqs]


@pytest.mark.parametrize(
    ("covered", "recent", "there"),
    [
        (Covered("s1", 3, 6), 2, False),
        (Covered("s1", 3, 6), 1, True),
        (Covered("s1", 1, 4), 2, True),
        (Covered("s2", 3, 6), 2, False),  # of what it tells nothing is in sight, nor left out
        (None, 2, True),
    ],
)
def test_a_summary_of_nothing_but_recent_turns_is_left_out(
    covered: Covered | None, recent: int, there: bool
):
    made = listed(talk(*TURNS), [], recent=recent, covered=covered, summary=SUMMARY)
    assert len(seqs(made, Section.RECENT)) == 2 * recent
    assert any(item.section is Section.SUMMARY for item in made.items) is there


def test_a_summary_of_more_than_the_window_reaches_stays():
    said = talk(*TURNS)[2:]
    made = listed(said, [], recent=1, covered=Covered("s1", 1, 6), summary=SUMMARY)
    assert any(item.section is Section.SUMMARY for item in made.items)


def test_a_summary_stays_where_the_tools_that_it_tells_of_had_no_room():
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for at in range(6)
    ]
    called = Message(6, "m6", Role.ASSISTANT, None, BEGIN, None, "s1", tool_calls=tuple(calls))
    seen = [
        Message(seq, f"m{seq}", Role.TOOL, "seen " * 40, BEGIN, None, "s1", tool_call_id=call["id"])
        for seq, call in enumerate(calls, 7)
    ]
    said = [*talk("Look!", "Good.", "Well?", "Yes.", "And now?"), called, *seen]
    for budget, there in ((2_000, False), (200, True)):
        covered = Covered("s1", 5, 12)
        made = listed(said, [], recent=1, covered=covered, summary="They met.", budget=budget)
        assert (6 in seqs(made, Section.RECENT)) is not there
        assert 5 in seqs(made, Section.RECENT)
        assert any(item.section is Section.SUMMARY for item in made.items) is there


def test_what_a_summary_quotes_whole_is_not_found_again():
    said = talk(*TURNS)
    found = [message_candidate(each) for each in said[:3]]
    made = listed(said, found, recent=1, covered=Covered("s1", 1, 4), summary=SUMMARY)
    assert seqs(made, Section.HISTORY) == [3]
    assert [each.candidate.key for each, why in made.left_out if why is LeftOut.PRESENT] == [1, 2]
    elsewhere = [each._replace(session_id="s2") for each in found]
    made = listed(said, elsewhere, recent=1, covered=Covered("s1", 1, 4), summary=SUMMARY)
    assert seqs(made, Section.HISTORY) == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "seqs_of", "is_told"),
    [
        ("We roll back with make undo. Ann keeps the key.", (1,), True),
        ("User: We roll back with make undo. Thanks!\nUser: Ann keeps the key.", (1, 2), True),
        ("我们每周五发布新版本。", (2,), True),
        ("助手：我们每周五发布新版本。", (2,), True),
        ("We roll back with make undo, after asking.", (3,), False),
        ("We roll back with make undo. It takes an hour.", (1,), False),
        ("Assistant: We roll back with make undo.", (2,), False),
        ("用户：我们每周五发布新版本。", (2,), False),
        ("We roll back with make undo.", (1, 5), False),
        ("We roll back with make undo.", (), False),
        (
            "[Assistant: Which neighbour waters the plants?]\nUser: Ann keeps the key.",
            (1, 2),
            False,
        ),
        ("We roll back with make undo?", (1,), False),
        ("user: We roll back with make undo.\nuser: Yes.", (1, 2), True),
        ("user: Shall we ask?\nuser: Yes.", (3,), False),
    ],
)
def test_a_memory_that_says_what_a_summary_says_is_not_brought(
    text: str, seqs_of: tuple[int, ...], is_told: bool
):
    memory = Candidate(Source.MEMORY, 1, text, seqs_of, BEGIN, "s1")
    for query in ("How?", None):
        made = listed(
            talk(*TURNS), [memory], recent=1, covered=Covered("s1", 1, 4), summary=SUMMARY,
            query=query,
        )  # fmt: skip
        shown = any(item.section is Section.MEMORY for item in made.items)
        assert shown is not is_told
        left_out = [why for each, why in made.left_out if each.key == (Source.MEMORY, 1)]
        assert left_out == ([LeftOut.PRESENT] if is_told else [])


def test_what_of_a_summary_had_no_room_is_found():
    said = talk(*TURNS)
    found = [message_candidate(said[0])]
    long = SUMMARY + "\nuser: " + "word " * 50
    covered = Covered("s1", 1, 4)
    made = listed(said, found, recent=1, covered=covered, summary=long, budget=500)
    (shown,) = [item.text for item in made.items if item.section is Section.SUMMARY]
    assert ("We roll back" in shown) is (seqs(made, Section.HISTORY) == [])


def test_what_is_told_in_brief_but_for_courtesy_is_not_found_again():
    long = "And the long way home was as long as ever before. " * 40
    said = talk("Hello", "Hi", "Thanks! We roll back with make undo.", long, "Next?", "Yes.")
    found = [message_candidate(said[2])]
    made = listed(said, found, recent=3, budget=400)
    assert 3 in seqs(made, Section.SUMMARY)
    assert sum("make undo" in item.text for item in made.items) == 1


def pin(number: int, message: Message, part: str | None = None) -> Pin:
    text = message.text
    start = text.index(part or text)
    span = None if part is None else (start, start + len(part))
    return Pin(number, PinKind.NOTE, part or text, "detector", BEGIN, message.seq, span=span,
               message_text=text)  # fmt: skip


@pytest.mark.parametrize("text", ["Never fly with Ann. Always ask Bob!", "别坐飞机。先问王磊！"])
def test_a_message_whose_words_are_all_pinned_is_not_found_again(text: str):
    said = talk(text, "Good.")
    found = [
        message_candidate(said[0]),
        Candidate(Source.MEMORY, 1, f"User: {text}", (1,), BEGIN),
    ]
    first, second = (text[slice(*each)] for each in sentence_spans(text))
    one, two, all_of_it = pin(1, said[0], first), pin(2, said[0], second), pin(3, said[0], text)
    for pins in ((pin(1, said[0]),), (all_of_it,), (one, two), (one, all_of_it)):
        made = listed(said, found, recent=0, pins=pins)
        assert not {Section.HISTORY, Section.MEMORY} & {item.section for item in made.items}
    made = listed(said, found, recent=0, pins=(one,))
    assert seqs(made, Section.HISTORY) == [1]


def test_recent_turns_have_no_holes_where_messages_are_pinned():
    said = talk("Never fly.", "Good.")
    made = listed(said, [], recent=1, pins=(pin(1, said[0], "Never fly."),))
    assert seqs(made, Section.RECENT) == [1, 2]


def test_a_memory_of_nothing_but_recent_turns_is_not_brought():
    said = talk("We sail to Bergen on Monday.", "With Tom?", "Yes.", "Fine.")
    found = [
        Candidate(Source.MEMORY, 1, "They sail with Tom.", (1, 2), BEGIN),
        Candidate(Source.MEMORY, 2, "Tom was seen in Oslo. They sail.", (1, 77), BEGIN),
    ]
    made = listed(said, found, recent=2)
    assert [i.ranked.candidate.key for i in made.items if i.ranked] == [2]
