"""A text that a pin, summary or recent turn holds in full is not retrieved again (R14)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memci.domain.context.assemble import Assembly
from memci.domain.context.materials import Covered, Materials
from memci.domain.context.message_list import LeftOut, Section
from memci.domain.pages.pins import Pin, PinKind
from memci.domain.search.candidate import Candidate, Source, message_candidate
from memci.domain.session.interaction import interactions
from memci.language.detection import Language
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
    messages: list[Message], found: list[Candidate], *, recent: int, covered: Covered | None = None,
    summary: str | None = None, pins: tuple[Pin, ...] = (), budget: int = 2_000,
    query: str | None = None,
) -> Assembly:  # fmt: skip
    materials = Materials(
        None, query, interactions(messages), recent, in_order(*found), Language.ENGLISH,
        pins=pins, summary=summary, covered=covered, spans=sentence_spans,
    )  # fmt: skip
    return assemble(materials, budget, words)


def seqs(assembly: Assembly, section: Section) -> list[int]:
    return [each for item in assembly.items if item.section is section for each in item.seqs]


@pytest.mark.parametrize(
    ("covered", "recent", "is_shown"),
    [
        (Covered("s1", 3, 6), 2, False),
        (Covered("s1", 3, 6), 1, True),
        (Covered("s1", 1, 4), 2, True),
        (Covered("s2", 3, 6), 2, False),  # it is of another session
        (None, 2, True),
    ],
)
def test_a_summary_of_recent_turns_alone_is_left_out(
    covered: Covered | None, recent: int, is_shown: bool
):
    made = listed(talk(*TURNS), [], recent=recent, covered=covered, summary=SUMMARY)
    assert len(seqs(made, Section.RECENT)) == 2 * recent
    assert any(item.section is Section.SUMMARY for item in made.items) is is_shown


def test_a_summary_that_covers_older_turns_is_kept():
    turns = talk(*TURNS)[2:]
    made = listed(turns, [], recent=1, covered=Covered("s1", 1, 6), summary=SUMMARY)
    assert any(item.section is Section.SUMMARY for item in made.items)


def test_a_summary_is_kept_if_its_tool_calls_have_no_room():
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for at in range(6)
    ]
    called = Message(6, "m6", Role.ASSISTANT, None, BEGIN, None, "s1", tool_calls=tuple(calls))
    results = [
        Message(seq, f"m{seq}", Role.TOOL, "seen " * 40, BEGIN, None, "s1", tool_call_id=call["id"])
        for seq, call in enumerate(calls, 7)
    ]
    turns = [*talk("Look!", "Good.", "Well?", "Yes.", "And now?"), called, *results]
    for budget, is_shown in ((2_000, False), (200, True)):
        covered = Covered("s1", 5, 12)
        made = listed(turns, [], recent=1, covered=covered, summary="They met.", budget=budget)
        assert (6 in seqs(made, Section.RECENT)) is not is_shown
        assert 5 in seqs(made, Section.RECENT)
        assert any(item.section is Section.SUMMARY for item in made.items) is is_shown


def test_messages_that_a_summary_quotes_in_full_are_not_retrieved():
    turns = talk(*TURNS)
    found = [message_candidate(each) for each in turns[:3]]
    made = listed(turns, found, recent=1, covered=Covered("s1", 1, 4), summary=SUMMARY)
    assert seqs(made, Section.HISTORY) == [3]
    assert {each.candidate.key for each, why in made.left_out if why is LeftOut.PRESENT} == {1, 2}
    elsewhere = [each._replace(session_id="s2") for each in found]
    made = listed(turns, elsewhere, recent=1, covered=Covered("s1", 1, 4), summary=SUMMARY)
    assert seqs(made, Section.HISTORY) == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "seqs_of", "is_repeated"),
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
def test_a_memory_that_repeats_a_summary_is_not_retrieved(
    text: str, seqs_of: tuple[int, ...], is_repeated: bool
):
    memory = Candidate(Source.MEMORY, 1, text, seqs_of, BEGIN, "s1")
    for query in ("How?", None):
        made = listed(
            talk(*TURNS), [memory], recent=1, covered=Covered("s1", 1, 4), summary=SUMMARY,
            query=query,
        )  # fmt: skip
        shown = any(item.section is Section.MEMORY for item in made.items)
        assert shown is not is_repeated
        left_out = [why for each, why in made.left_out if each.key == (Source.MEMORY, 1)]
        assert left_out == ([LeftOut.PRESENT] if is_repeated else [])


def test_messages_are_retrieved_if_their_summary_line_has_no_room():
    turns = talk(*TURNS)
    found = [message_candidate(turns[0])]
    long = SUMMARY + "\nuser: " + "word " * 50
    covered = Covered("s1", 1, 4)
    made = listed(turns, found, recent=1, covered=covered, summary=long, budget=500)
    (shown,) = [item.text for item in made.items if item.section is Section.SUMMARY]
    assert ("We roll back" in shown) is (seqs(made, Section.HISTORY) == [])


def test_a_message_shortened_by_courtesy_alone_is_not_retrieved():
    long = "And the long way home was as long as ever before. " * 40
    turns = talk("Hello", "Hi", "Thanks! We roll back with make undo.", long, "Next?", "Yes.")
    found = [message_candidate(turns[2])]
    made = listed(turns, found, recent=3, budget=400)
    assert 3 in seqs(made, Section.SUMMARY)
    assert sum("make undo" in item.text for item in made.items) == 1


def pin(number: int, message: Message, part: str | None = None) -> Pin:
    text = message.text
    start = text.index(part or text)
    span = None if part is None else (start, start + len(part))
    return Pin(number, PinKind.NOTE, part or text, "detector", BEGIN, message.seq, span=span,
               message_text=text)  # fmt: skip


@pytest.mark.parametrize("text", ["Never fly with Ann. Always ask Bob!", "别坐飞机。先问王磊！"])
def test_a_message_that_is_pinned_in_full_is_not_retrieved(text: str):
    turns = talk(text, "Good.")
    found = [
        message_candidate(turns[0]),
        Candidate(Source.MEMORY, 1, f"User: {text}", (1,), BEGIN),
    ]
    first, second = (text[slice(*each)] for each in sentence_spans(text))
    one, two, all_of_it = pin(1, turns[0], first), pin(2, turns[0], second), pin(3, turns[0], text)
    for pins in ((pin(1, turns[0]),), (all_of_it,), (one, two), (one, all_of_it)):
        made = listed(turns, found, recent=0, pins=pins)
        assert not {Section.HISTORY, Section.MEMORY} & {item.section for item in made.items}
    made = listed(turns, found, recent=0, pins=(one,))
    assert seqs(made, Section.HISTORY) == [1]


def test_pinned_messages_stay_among_recent_turns():
    turns = talk("Never fly.", "Good.")
    made = listed(turns, [], recent=1, pins=(pin(1, turns[0], "Never fly."),))
    assert seqs(made, Section.RECENT) == [1, 2]


def test_a_memory_of_recent_turns_alone_is_not_retrieved():
    turns = talk("We sail to Bergen on Monday.", "With Tom?", "Yes.", "Fine.")
    found = [
        Candidate(Source.MEMORY, 1, "They sail with Tom.", (1, 2), BEGIN),
        Candidate(Source.MEMORY, 2, "Tom was seen in Oslo. They sail.", (1, 77), BEGIN),
    ]
    made = listed(turns, found, recent=2)
    assert [i.ranked.candidate.key for i in made.items if i.ranked] == [2]


def test_the_newest_automatic_pins_take_at_most_a_tenth_of_the_budget():
    turns = talk(*(f"Never fly over {' '.join(town * 9)}." for town in "abc"))
    found = [
        replace(pin(number, turn), by=by, created_at=turn.said_at)
        for number, turn, by in zip(
            (1, 2, 3, 4), (turns[0], *turns), ("agent", *["detector"] * 3), strict=True
        )
    ]

    def shown(budget: int) -> list[int]:
        made = listed(turns, [], recent=0, pins=tuple(found), budget=budget)
        return [item.origin["pin"] for item in made.items if item.section is Section.PINS]

    assert [shown(budget) for budget in (100, 300, 500, 700)] == [
        [1], [1, 4], [1, 3, 4], [1, 2, 3, 4]
    ]  # fmt: skip


def test_a_long_automatic_pin_hides_no_older_one_and_never_makes_a_budget_too_small():
    turns = talk("Never fly.", f"Always {'ask ' * 60}.")
    found = tuple(
        replace(pin(number, turn), created_at=turn.said_at)
        for number, turn in enumerate(turns, start=1)
    )
    for budget in range(30, 700, 10):
        made = listed(turns, [], recent=0, pins=found, budget=budget)
        shown = [item.origin["pin"] for item in made.items if item.section is Section.PINS]
        assert shown == ([] if budget < 110 else [1] if budget < 700 else [1, 2]), budget


def test_a_hidden_automatic_pin_can_be_retrieved():
    turns = talk("Never fly with Ann.")
    found = [message_candidate(turns[0])]
    hidden = listed(turns, found, recent=0, pins=(pin(1, turns[0]),), budget=90)
    assert seqs(hidden, Section.HISTORY) == [1]
    pinned = listed(turns, found, recent=0, pins=(pin(1, turns[0]),), budget=200)
    assert not seqs(pinned, Section.HISTORY)
