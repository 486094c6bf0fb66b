"""Recent turns say on which day, and in which session, they were said (R13)."""

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


class Said(NamedTuple):
    day: int
    text: str
    session: str | None = "s1"
    role: Role = Role.USER


def talk(*said: Said) -> list[Message]:
    return [
        Message(seq, f"m{seq}", each.role, each.text,
                datetime(2026, 11, each.day, 9, seq % 60, tzinfo=UTC), session_id=each.session)
        for seq, each in enumerate(said, start=1)
    ]  # fmt: skip


def listed(
    said: list[Message],
    query: str | None = None,
    budget: int = PLENTY,
    *,
    language: Language = Language.ENGLISH,
    today: date | None = TODAY,
    count: Count = words,
) -> Assembly:
    window = interactions(said)
    materials = Materials(None, query, window, len(window), [], language, today=today)
    return assemble(materials, budget, count)


def contents(assembly: Assembly) -> list[str | None]:
    return [part.utterance.content for part in assembly.parts]


def notes(assembly: Assembly) -> list[str | None]:
    return [part.utterance.content for part in assembly.parts if part.utterance.role is Role.SYSTEM]


TEST_ON_9 = (Said(9, "Tomorrow I have my driving test."),
             Said(9, "Good luck for tomorrow!", role=Role.ASSISTANT))  # fmt: skip


def lines(assembly: Assembly) -> list[str]:
    """The lines of the note, which stands in front of all turns; none of any other system text."""
    said = [part.utterance for part in assembly.parts]
    if all(each.role is not Role.SYSTEM for each in said):
        return []
    assert [place for place, each in enumerate(said) if each.role is Role.SYSTEM] == [0]
    header, *told = (said[0].content or "").splitlines()
    assert header == "When the turns below were said:"
    return told


def test_one_note_in_front_says_when_turns_were_said_and_when_the_question_is_asked():
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


def test_the_note_speaks_the_lists_language():
    said = talk(Said(12, "昨天我去了医院。", "a"), Said(12, "下周六我们去爬山。", "b"))
    made = listed(said, "什么时候爬山？", language=Language.CHINESE)
    assert notes(made) == [
        (
            "以下对话的时间：\n"
            "- 2026年11月12日（星期四）：昨天我去了医院。\n"
            "- 2026年11月12日（星期四），另一会话：下周六我们去爬山。\n"
            "- 2026年11月22日（星期日）：什么时候爬山？\n"
        )
    ]


@pytest.mark.parametrize("query", [None, "And now?"])
def test_todays_turns_of_one_session_stand_as_they_were_said(query: str | None):
    said = talk(Said(22, "Hello"), Said(22, "Hi", role=Role.ASSISTANT), Said(22, "Now?"))
    assert notes(listed(said, query)) == []
    assert notes(listed(said, query, today=None)) == []


def test_a_line_is_told_of_each_day_and_of_each_beginning_of_a_session():
    said = talk(
        Said(11, "a1", "a"), Said(11, "a2", "a"), Said(12, "a3", "a"), Said(12, "b1", "b"),
        Said(12, "b2", "b"), Said(12, "a4", "a"), Said(22, "a5", "a"), Said(22, "none", None),
    )  # fmt: skip
    made = listed(said)
    assert lines(made) == [
        "- 11 November 2026 (Wed): a1", "- 12 November 2026 (Thu): a3",
        "- 12 November 2026 (Thu), another session: b1",
        "- 12 November 2026 (Thu), another session: a4",
        "- 22 November 2026 (Sun): a5", "- 22 November 2026 (Sun), another session: none",
    ]  # fmt: skip
    assert contents(made)[1:] == [each.content for each in said]


def test_of_two_sessions_of_today_both_are_told():
    said = talk(Said(22, "a1", "a"), Said(22, "b1", "b"))
    assert lines(listed(said)) == [
        "- 22 November 2026 (Sun): a1", "- 22 November 2026 (Sun), another session: b1",
    ]  # fmt: skip


def test_an_answer_of_the_next_day_has_a_line():
    said = talk(Said(21, "Late?"), Said(22, "Past midnight.", role=Role.ASSISTANT))
    assert lines(listed(said)) == [
        "- 21 November 2026 (Sat): Late?", "- 22 November 2026 (Sun): Past midnight.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "opening"),
    [
        ("a" * 32, "a" * 32),
        ("a" * 33, "a" * 32 + "…"),
        ("This is the ferry, and it leaves at nine.", "This is the ferry, and it leaves…"),
        ("  I went\n\n- to\u2028the market\t", "I went - to the market"),
        ("x " * 500, "x " * 15 + "x…"),
        ("我" * 33, "我" * 32 + "…"),
    ],
)
def test_a_turn_is_known_by_its_first_words_on_one_line(said: str, opening: str):
    assert lines(listed(talk(Said(9, said)))) == [f"- 9 November 2026 (Mon): {opening}"]


def test_a_turn_that_says_nothing_is_known_by_the_tools_that_it_calls():
    calls = tuple(
        {"id": each, "type": "function", "function": {"name": f"look_{each}", "arguments": "{}"}}
        for each in ("c1", "c2")
    )
    nameless = ({"id": "c3", "type": "function", "function": {"name": "", "arguments": "{}"}},)
    at = datetime(2026, 11, 21, 9, tzinfo=UTC)
    later = datetime(2026, 11, 22, 9, tzinfo=UTC)
    said = [
        Message(1, "m1", Role.USER, "Look!", at, session_id="s1"),
        Message(2, "m2", Role.ASSISTANT, None, later, session_id="s1", tool_calls=calls),
        Message(3, "m3", Role.TOOL, "seen", later, session_id="s1", tool_call_id="c1"),
        Message(4, "m4", Role.TOOL, "seen", later, session_id="s1", tool_call_id="c2"),
        Message(5, "m5", Role.ASSISTANT, " ", TOMORROW, session_id="s1", tool_calls=nameless),
        Message(6, "m6", Role.TOOL, "", TOMORROW, session_id="s1", tool_call_id="c3"),
    ]
    made = listed(said)
    assert lines(made) == [
        "- 21 November 2026 (Sat): Look!", "- 22 November 2026 (Sun): look_c1, look_c2",
        "- 23 November 2026 (Mon)",
    ]  # fmt: skip
    assert contents(made)[1:] == ["Look!", None, "seen", "seen", " ", ""]


def test_a_result_of_the_next_day_is_of_the_day_of_its_call():
    calls = ({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},)
    at = datetime(2026, 11, 21, 9, tzinfo=UTC)
    later = datetime(2026, 11, 22, 9, tzinfo=UTC)
    said = [
        Message(1, "m1", Role.USER, "Look!", at, session_id="s1"),
        Message(2, "m2", Role.ASSISTANT, None, at, session_id="s1", tool_calls=calls),
        Message(3, "m3", Role.TOOL, "seen", later, session_id="s1", tool_call_id="c1"),
        Message(4, "m4", Role.ASSISTANT, "I saw it.", later, session_id="s1"),
    ]
    assert lines(listed(said)) == [
        "- 21 November 2026 (Sat): Look!", "- 22 November 2026 (Sun): I saw it.",
    ]  # fmt: skip


def test_a_stored_question_is_of_the_day_on_which_it_was_stored():
    said = talk(*TEST_ON_9, Said(10, "Did I pass?"))
    assert lines(listed(said, "Did I pass?")) == [
        "- 9 November 2026 (Mon): Tomorrow I have my driving test.",
        "- 10 November 2026 (Tue): Did I pass?",
    ]


def test_the_next_lists_begin_with_the_same_note():
    said = list(TEST_ON_9)
    first = contents(listed(talk(*said), "How did it go?"))
    said += [Said(22, "How did it go?"), Said(22, "Well.", role=Role.ASSISTANT)]
    second = contents(listed(talk(*said), "And then?"))
    assert second == [*first, "Well.", "And then?"]
    said += [Said(22, "And then?"), Said(22, "Lunch.", role=Role.ASSISTANT)]
    assert contents(listed(talk(*said), "And?"))[: len(second)] == second
    # On the next day only the question's line is new.
    tomorrow = contents(listed(talk(*said), "And?", today=TOMORROW.date()))
    assert tomorrow[0] == f"{first[0]}- 23 November 2026 (Mon): And?\n"


def test_what_waits_for_its_answer_goes_without_its_day_where_there_is_no_room_for_it():
    said = talk(*TEST_ON_9, Said(12, "A question that waits"))
    alone = words("A question that waits") + 4 + 3
    assert contents(listed(said, budget=alone)) == ["A question that waits"]
    text = "When the turns below were said:\n- 12 November 2026 (Thu): A question that waits\n"
    note = words(text) + 4
    assert contents(listed(said, budget=alone + note - 1)) == ["A question that waits"]
    assert contents(listed(said, budget=alone + note)) == [text, "A question that waits"]


def test_what_is_over_goes_in_with_its_days_or_not_at_all():
    said = talk(*TEST_ON_9)
    least = next(each for each in range(10, 99) if contents(listed(said, "Hm?", each)) != ["Hm?"])
    made = listed(said, "Hm?", least)
    assert lines(made) == [
        "- 9 November 2026 (Mon): Tomorrow I have my driving test.",
        "- 22 November 2026 (Sun): Hm?",
    ]
    assert made.tokens <= least


@pytest.mark.parametrize("counted", [len, words, lambda text: len(text) // 4])
def test_the_note_is_counted_as_a_whole(counted: Count):
    """Tokens of a text may be more than those of its lines together."""
    said = talk(*(Said(day, f"Crate {day}") for day in range(1, 9)))
    taken = set()
    for budget in range(20, 420):
        made = listed(said, "And now?", budget, count=counted)
        assert made.tokens <= budget
        taken.add(sum(bool(item.seqs) for item in made.items if item.section is Section.RECENT))
    assert len(taken) > 4


@pytest.mark.parametrize(
    ("language", "days"),
    [
        (Language.ENGLISH, ["9 November 2026 (Mon)", "22 November 2026 (Sun)"]),
        (Language.CHINESE, ["2026年11月9日（星期一）", "2026年11月22日（星期日）"]),
    ],
)
def test_what_had_no_room_is_told_under_its_days(language: Language, days: list[str]):
    long = Said(22, "word " * 400, role=Role.SYSTEM)
    said = talk(*TEST_ON_9, Said(22, "And now?"), long, Said(22, "Last."))
    made = listed(said, budget=390, language=language)
    told = [item for item in made.items if item.section is Section.SUMMARY]
    lines = "".join(item.text for item in told).splitlines()
    assert lines[1] == days[0]
    assert lines[4] == days[1]
    assert [item.seqs for item in told][:3] == [(1,), (2,), (3,)]
    today = [each._replace(day=22) for each in TEST_ON_9]
    made = listed(talk(*today, Said(22, "And now?"), long, Said(22, "Last.")), budget=390)
    text = "".join(item.text for item in made.items if item.section is Section.SUMMARY)
    assert "driving test" in text
    assert "2026" not in text
