"""A note says on which day and in which session the recent turns were said (R13)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import NamedTuple

import pytest

from memci.domain.context.assemble import Assembly
from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Section
from memci.domain.session.interaction import interactions
from memci.domain.token_counts import Count
from memci.language.detection import Language
from memci.message import Message, Role
from tests.support.talk import assemble, words

TODAY = date(2026, 11, 22)
TOMORROW = datetime(2026, 11, 23, 9, tzinfo=UTC)
PLENTY = 2_000


class Turn(NamedTuple):
    day: int
    text: str
    session: str | None = "s1"
    role: Role = Role.USER


def talk(*turns: Turn) -> list[Message]:
    return [
        Message(seq, f"m{seq}", each.role, each.text,
                datetime(2026, 11, each.day, 9, seq % 60, tzinfo=UTC), session_id=each.session)
        for seq, each in enumerate(turns, start=1)
    ]  # fmt: skip


def listed(
    messages: list[Message],
    query: str | None = None,
    budget: int = PLENTY,
    *,
    language: Language = Language.ENGLISH,
    today: date | None = TODAY,
    count: Count = words,
) -> Assembly:
    window = interactions(messages)
    materials = Materials(None, query, window, len(window), [], language, today=today)
    return assemble(materials, budget, count)


def contents(assembly: Assembly) -> list[str | None]:
    return [part.utterance.content for part in assembly.parts]


def notes(assembly: Assembly) -> list[str | None]:
    return [part.utterance.content for part in assembly.parts if part.utterance.role is Role.SYSTEM]


TEST_ON_9 = (Turn(9, "Tomorrow I have my driving test."),
             Turn(9, "Good luck for tomorrow!", role=Role.ASSISTANT))  # fmt: skip


def lines(assembly: Assembly) -> list[str]:
    """Return the lines of the note before all turns; assert that there is no other system text."""
    utterances = [part.utterance for part in assembly.parts]
    if all(each.role is not Role.SYSTEM for each in utterances):
        return []
    assert [place for place, each in enumerate(utterances) if each.role is Role.SYSTEM] == [0]
    header, *entries = (utterances[0].content or "").splitlines()
    assert header == "When the turns below were said:"
    return entries


def test_one_note_before_all_turns_has_their_days_and_the_day_of_the_question():
    made = listed(talk(*TEST_ON_9), "When is my driving test?")
    assert contents(made) == [
        ("When the turns below were said:\n"
        "- 9 November 2026 (Mon): Tomorrow I have my driving test.\n"
        "- 22 November 2026 (Sun): When is my driving test?\n"),
        "Tomorrow I have my driving test.", "Good luck for tomorrow!", "When is my driving test?",
    ]  # fmt: skip
    assert [part.utterance.role.value for part in made.parts] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
    noted = [item for item in made.items if not item.seqs and item.section is Section.RECENT]
    assert [item.origin for item in noted] == [
        {"from_day": "2026-11-09", "through_day": "2026-11-22"}
    ]
    assert made.recent_begins == 1


def test_the_note_is_in_the_language_of_the_list():
    turns = talk(Turn(12, "昨天我去了医院。", "a"), Turn(12, "下周六我们去爬山。", "b"))
    made = listed(turns, "什么时候爬山？", language=Language.CHINESE)
    assert notes(made) == [
        (
            "以下对话的时间：\n"
            "- 2026-11-12（四）：昨天我去了医院。\n"
            "- 2026-11-12（四），另一会话：下周六我们去爬山。\n"
            "- 2026-11-22（日）：什么时候爬山？\n"
        )
    ]


@pytest.mark.parametrize("query", [None, "And now?"])
def test_there_is_no_note_for_turns_of_today_in_one_session(query: str | None):
    turns = talk(Turn(22, "Hello"), Turn(22, "Hi", role=Role.ASSISTANT), Turn(22, "Now?"))
    assert notes(listed(turns, query)) == []
    assert notes(listed(turns, query, today=None)) == []


def test_the_note_has_a_line_for_each_new_day_or_session():
    turns = talk(
        Turn(11, "a1", "a"), Turn(11, "a2", "a"), Turn(12, "a3", "a"), Turn(12, "b1", "b"),
        Turn(12, "b2", "b"), Turn(12, "a4", "a"), Turn(22, "a5", "a"), Turn(22, "none", None),
    )  # fmt: skip
    made = listed(turns)
    assert lines(made) == [
        "- 11 November 2026 (Wed): a1", "- 12 November 2026 (Thu): a3",
        "- 12 November 2026 (Thu), another session: b1",
        "- 12 November 2026 (Thu), another session: a4",
        "- 22 November 2026 (Sun): a5", "- 22 November 2026 (Sun), another session: none",
    ]  # fmt: skip
    assert contents(made)[1:] == [each.content for each in turns]


def test_two_sessions_of_today_have_a_line_each():
    turns = talk(Turn(22, "a1", "a"), Turn(22, "b1", "b"))
    assert lines(listed(turns)) == [
        "- 22 November 2026 (Sun): a1", "- 22 November 2026 (Sun), another session: b1",
    ]  # fmt: skip


def test_an_answer_of_the_next_day_has_a_line():
    turns = talk(Turn(21, "Late?"), Turn(22, "Past midnight.", role=Role.ASSISTANT))
    assert lines(listed(turns)) == [
        "- 21 November 2026 (Sat): Late?", "- 22 November 2026 (Sun): Past midnight.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("a" * 32, "a" * 32),
        ("a" * 33, "a" * 32 + "…"),
        ("This is the ferry, and it leaves at nine.", "This is the ferry, and it leaves…"),
        ("  I went\n\n- to\u2028the market\t", "I went - to the market"),
        ("x " * 500, "x " * 15 + "x…"),
        ("我" * 33, "我" * 32 + "…"),
    ],
)
def test_a_turn_is_quoted_by_its_first_words_on_one_line(text: str, opening: str):
    assert lines(listed(talk(Turn(9, text)))) == [f"- 9 November 2026 (Mon): {opening}"]


def test_a_turn_without_words_is_described_by_its_tool_calls():
    calls = tuple(
        {"id": each, "type": "function", "function": {"name": f"look_{each}", "arguments": "{}"}}
        for each in ("c1", "c2")
    )
    nameless = ({"id": "c3", "type": "function", "function": {"name": "", "arguments": "{}"}},)
    at = datetime(2026, 11, 21, 9, tzinfo=UTC)
    later = datetime(2026, 11, 22, 9, tzinfo=UTC)
    turns = [
        Message(1, "m1", Role.USER, "Look!", at, session_id="s1"),
        Message(2, "m2", Role.ASSISTANT, None, later, session_id="s1", tool_calls=calls),
        Message(3, "m3", Role.TOOL, "seen", later, session_id="s1", tool_call_id="c1"),
        Message(4, "m4", Role.TOOL, "seen", later, session_id="s1", tool_call_id="c2"),
        Message(5, "m5", Role.ASSISTANT, " ", TOMORROW, session_id="s1", tool_calls=nameless),
        Message(6, "m6", Role.TOOL, "", TOMORROW, session_id="s1", tool_call_id="c3"),
    ]
    made = listed(turns)
    assert lines(made) == [
        "- 21 November 2026 (Sat): Look!", "- 22 November 2026 (Sun): look_c1, look_c2",
        "- 23 November 2026 (Mon)",
    ]  # fmt: skip
    assert contents(made)[1:] == ["Look!", None, "seen", "seen", " ", ""]


def test_a_tool_result_of_the_next_day_counts_as_of_the_day_of_its_call():
    calls = ({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},)
    at = datetime(2026, 11, 21, 9, tzinfo=UTC)
    later = datetime(2026, 11, 22, 9, tzinfo=UTC)
    turns = [
        Message(1, "m1", Role.USER, "Look!", at, session_id="s1"),
        Message(2, "m2", Role.ASSISTANT, None, at, session_id="s1", tool_calls=calls),
        Message(3, "m3", Role.TOOL, "seen", later, session_id="s1", tool_call_id="c1"),
        Message(4, "m4", Role.ASSISTANT, "I saw it.", later, session_id="s1"),
    ]
    assert lines(listed(turns)) == [
        "- 21 November 2026 (Sat): Look!", "- 22 November 2026 (Sun): I saw it.",
    ]  # fmt: skip


def test_a_stored_question_has_the_day_of_its_storage():
    turns = talk(*TEST_ON_9, Turn(10, "Did I pass?"))
    assert lines(listed(turns, "Did I pass?")) == [
        "- 9 November 2026 (Mon): Tomorrow I have my driving test.",
        "- 10 November 2026 (Tue): Did I pass?",
    ]


def test_the_next_lists_begin_with_the_same_messages():
    turns = list(TEST_ON_9)
    first = contents(listed(talk(*turns), "How did it go?"))
    turns += [Turn(22, "How did it go?"), Turn(22, "Well.", role=Role.ASSISTANT)]
    second = contents(listed(talk(*turns), "And then?"))
    assert second == [*first, "Well.", "And then?"]
    turns += [Turn(22, "And then?"), Turn(22, "Lunch.", role=Role.ASSISTANT)]
    assert contents(listed(talk(*turns), "And?"))[: len(second)] == second
    # On the next day only the question's line is new.
    tomorrow = contents(listed(talk(*turns), "And?", today=TOMORROW.date()))
    assert tomorrow[0] == f"{first[0]}- 23 November 2026 (Mon): And?\n"


def test_an_unanswered_question_has_no_note_if_there_is_no_room_for_it():
    turns = talk(*TEST_ON_9, Turn(12, "A question that waits"))
    alone = words("A question that waits") + 4 + 3
    assert contents(listed(turns, budget=alone)) == ["A question that waits"]
    text = "When the turns below were said:\n- 12 November 2026 (Thu): A question that waits\n"
    note = words(text) + 4
    assert contents(listed(turns, budget=alone + note - 1)) == ["A question that waits"]
    assert contents(listed(turns, budget=alone + note)) == [text, "A question that waits"]


def test_answered_turns_are_listed_with_their_days_or_not_at_all():
    turns = talk(*TEST_ON_9)
    least = next(each for each in range(10, 99) if contents(listed(turns, "Hm?", each)) != ["Hm?"])
    made = listed(turns, "Hm?", least)
    assert lines(made) == [
        "- 9 November 2026 (Mon): Tomorrow I have my driving test.",
        "- 22 November 2026 (Sun): Hm?",
    ]
    assert made.tokens <= least


@pytest.mark.parametrize("counted", [len, words, lambda text: len(text) // 4])
def test_the_note_is_counted_as_a_whole(counted: Count):
    """A text may have more tokens than its lines together."""
    turns = talk(*(Turn(day, f"Crate {day}") for day in range(1, 9)))
    taken = set()
    for budget in range(20, 420):
        made = listed(turns, "And now?", budget, count=counted)
        assert made.tokens <= budget
        taken.add(sum(bool(item.seqs) for item in made.items if item.section is Section.RECENT))
    assert len(taken) > 4


@pytest.mark.parametrize(
    ("language", "days"),
    [
        (Language.ENGLISH, ["9 November 2026 (Mon)", "22 November 2026 (Sun)"]),
        (Language.CHINESE, ["2026-11-09（一）", "2026-11-22（日）"]),
    ],
)
def test_turns_without_room_are_summarised_under_their_days(language: Language, days: list[str]):
    long = Turn(22, "word " * 400, role=Role.SYSTEM)
    turns = talk(*TEST_ON_9, Turn(22, "And now?"), long, Turn(22, "Last."))
    made = listed(turns, budget=390, language=language)
    summary = [item for item in made.items if item.section is Section.SUMMARY]
    lines = "".join(item.text for item in summary).splitlines()
    assert lines[1] == days[0]
    assert lines[4] == days[1]
    assert [item.seqs for item in summary][:3] == [(1,), (2,), (3,)]
    today = [each._replace(day=22) for each in TEST_ON_9]
    made = listed(talk(*today, Turn(22, "And now?"), long, Turn(22, "Last.")), budget=390)
    text = "".join(item.text for item in made.items if item.section is Section.SUMMARY)
    assert "driving test" in text
    assert "2026" not in text
