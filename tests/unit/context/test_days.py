"""Recent turns say on which day, and in which session, they were said (R13)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import NamedTuple

import pytest

from memci.domain.context.assembly import Assembly, assemble
from memci.domain.context.interaction import interactions
from memci.domain.context.materials import Materials
from memci.domain.context.parts import Section
from memci.domain.language import Language
from memci.domain.message import Message, Role
from tests.support.talk import words

TODAY = date(2026, 11, 22)
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
) -> Assembly:
    window = interactions(said)
    materials = Materials(None, query, window, len(window), [], language, today=today)
    return assemble(materials, budget, words)


def contents(assembly: Assembly) -> list[str | None]:
    return [part.utterance.content for part in assembly.parts]


def notes(assembly: Assembly) -> list[str | None]:
    return [part.utterance.content for part in assembly.parts if part.utterance.role is Role.SYSTEM]


TEST_ON_9 = (Said(9, "Tomorrow I have my driving test."),
             Said(9, "Good luck for tomorrow!", role=Role.ASSISTANT))  # fmt: skip


def test_what_was_said_on_another_day_stands_under_it_and_the_question_under_its_own():
    made = listed(talk(*TEST_ON_9), "When is my driving test?")
    assert contents(made) == [
        "9 November 2026 (Mon)", "Tomorrow I have my driving test.", "Good luck for tomorrow!",
        "22 November 2026 (Sun)", "When is my driving test?",
    ]  # fmt: skip
    assert [part.utterance.role.value for part in made.parts] == [
        "system", "user", "assistant", "system", "user",
    ]  # fmt: skip
    noted = [item for item in made.items if not item.seqs and item.section is Section.RECENT]
    assert [item.origin for item in noted] == [{"day": "2026-11-09"}, {"day": "2026-11-22"}]
    assert made.recent_begins == 1


def test_the_notes_speak_the_lists_language():
    said = talk(Said(12, "昨天我去了医院。", "a"), Said(12, "下周六我们去爬山。", "b"))
    made = listed(said, "什么时候爬山？", language=Language.CHINESE)
    assert notes(made) == [
        "2026年11月12日（星期四）",
        "2026年11月12日（星期四），另一会话",
        "2026年11月22日（星期日）",
    ]  # fmt: skip


@pytest.mark.parametrize("query", [None, "And now?"])
def test_todays_turns_of_one_session_stand_as_they_were_said(query: str | None):
    said = talk(Said(22, "Hello"), Said(22, "Hi", role=Role.ASSISTANT), Said(22, "Now?"))
    assert notes(listed(said, query)) == []
    assert notes(listed(said, query, today=None)) == []


def test_a_day_is_named_once_and_so_is_each_beginning_of_a_session():
    said = talk(
        Said(11, "a1", "a"), Said(11, "a2", "a"), Said(12, "a3", "a"), Said(12, "b1", "b"),
        Said(12, "b2", "b"), Said(12, "a4", "a"), Said(22, "a5", "a"), Said(22, "none", None),
    )  # fmt: skip
    assert contents(listed(said)) == [
        "11 November 2026 (Wed)", "a1", "a2", "12 November 2026 (Thu)", "a3",
        "12 November 2026 (Thu), another session", "b1", "b2",
        "12 November 2026 (Thu), another session", "a4",
        "22 November 2026 (Sun)", "a5", "22 November 2026 (Sun), another session", "none",
    ]  # fmt: skip


def test_an_answer_of_the_next_day_stands_under_that():
    said = talk(Said(21, "Late?"), Said(22, "Past midnight.", role=Role.ASSISTANT))
    assert contents(listed(said)) == [
        "21 November 2026 (Sat)", "Late?", "22 November 2026 (Sun)", "Past midnight.",
    ]  # fmt: skip


def test_calls_stay_beside_their_results():
    calls = ({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},)
    at = datetime(2026, 11, 21, 9, tzinfo=UTC)
    later = datetime(2026, 11, 22, 9, tzinfo=UTC)
    said = [
        Message(1, "m1", Role.USER, "Look!", at, session_id="s1"),
        Message(2, "m2", Role.ASSISTANT, None, at, session_id="s1", tool_calls=calls),
        Message(3, "m3", Role.TOOL, "seen", later, session_id="s1", tool_call_id="c1"),
        Message(4, "m4", Role.ASSISTANT, "I saw it.", later, session_id="s1"),
    ]
    assert contents(listed(said)) == [
        "21 November 2026 (Sat)", "Look!", None, "seen", "22 November 2026 (Sun)", "I saw it.",
    ]  # fmt: skip


def test_a_stored_question_stands_under_the_day_on_which_it_was_stored():
    said = talk(*TEST_ON_9, Said(10, "Did I pass?"))
    assert notes(listed(said, "Did I pass?")) == [
        "9 November 2026 (Mon)", "10 November 2026 (Tue)",
    ]  # fmt: skip


def test_the_next_list_has_the_same_notes_in_the_same_places():
    said = list(TEST_ON_9)
    first = contents(listed(talk(*said), "How did it go?"))
    said += [Said(22, "How did it go?"), Said(22, "Well.", role=Role.ASSISTANT)]
    second = contents(listed(talk(*said), "And then?"))
    assert second[: len(first)] == first
    assert second[len(first) :] == ["Well.", "And then?"]
    tomorrow = contents(listed(talk(*said), "And then?", today=date(2026, 11, 23)))
    assert tomorrow[: len(second) - 1] == second[:-1]


def test_what_waits_for_its_answer_goes_without_its_day_where_there_is_no_room_for_it():
    said = talk(*TEST_ON_9, Said(12, "A question that waits"))
    alone = words("A question that waits") + 4 + 3
    assert contents(listed(said, budget=alone)) == ["A question that waits"]
    note = words("12 November 2026 (Thu)") + 4
    assert contents(listed(said, budget=alone + note - 1)) == ["A question that waits"]
    assert contents(listed(said, budget=alone + note)) == [
        "12 November 2026 (Thu)", "A question that waits",
    ]  # fmt: skip


def test_what_is_over_goes_in_with_its_days_or_not_at_all():
    said = talk(*TEST_ON_9)
    least = next(each for each in range(10, 99) if contents(listed(said, "Hm?", each)) != ["Hm?"])
    made = listed(said, "Hm?", least)
    assert notes(made) == ["9 November 2026 (Mon)", "22 November 2026 (Sun)"]
    assert made.tokens <= least


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
