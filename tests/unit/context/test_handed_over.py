"""A handover is true of what stands in it: days, and what is cut (R8)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from memci.domain.context.exchange import exchanges
from memci.domain.context.handover import Handover
from memci.domain.language import Language
from memci.domain.message import Message, Role
from memci.smallmodel.offline.tokens import OfflineTokenCounter

TODAY = date(2026, 11, 22)
count = OfflineTokenCounter().count


def said(
    seq: int, text: str | None, role: Role = Role.USER, day: int = 22, **fields: Any
) -> Message:
    at = datetime(2026, 11, day, 9, seq, tzinfo=UTC)
    return Message(seq, f"m{seq}", role, text, at, session_id="s1", **fields)


def handover(*messages: Message, **fields: Any) -> Handover:
    fields = {"language": Language.ENGLISH, "today": TODAY, **fields}
    return Handover("s1", recent=exchanges(messages), **fields)


def within(whole: Handover, budget: int) -> Handover:
    held = whole.within(budget, count, lambda text, target: text[:target])
    assert count(held.text()) <= budget
    return held


def calls(*arguments: str) -> dict[str, Any]:
    made = [
        {"id": f"c{at}", "type": "function", "function": {"name": f"write_{at}", "arguments": each}}
        for at, each in enumerate(arguments)
    ]
    return {"tool_calls": tuple(made)}


ROWS = json.dumps({f"row {each}": each * 7919 for each in range(900)})


def test_long_arguments_of_a_call_are_cut_and_the_tool_is_told():
    whole = handover(
        said(1, "Write the table, please."), said(2, None, Role.ASSISTANT, **calls(ROWS)),
        said(3, "It is written to the disk."),
    )  # fmt: skip
    assert count(whole.text()) > 5_000
    held = within(whole, 200)
    assert held.left_out == 0
    text = held.text()
    assert 'write_0({"row 0":0,' in text
    assert f"{899 * 7919}}})" in text
    assert " … " in text
    assert "It is written to the disk." in text


def test_of_many_calls_each_is_told():
    whole = handover(
        said(1, "Write them."), said(2, "As you like.", Role.ASSISTANT, **calls(*[ROWS] * 9, "{}"))
    )
    text = within(whole, 400).text()
    assert [f"write_{each}({{" in text for each in range(9)] == [True] * 9
    assert "write_9({})" in text
    assert "As you like." in text


@pytest.mark.parametrize(
    ("language", "whole", "cut"),
    [
        (Language.ENGLISH, "What was said last, word for word\n",
         "What was said last, with … where something is cut\n"),
        (Language.CHINESE, "最近的对话原文\n", "最近的对话，以…标出删节之处\n"),
    ],
)  # fmt: skip
def test_the_heading_says_whether_all_of_it_stands_there(language: Language, whole: str, cut: str):
    made = handover(said(1, "word " * 900), said(2, "Done.", Role.ASSISTANT), language=language)
    assert f"## {whole}" in made.text()
    shorter = within(made, 400)
    assert f"## {cut}" in shorter.text()
    assert shorter.left_out == 0
    # Left out is not cut: what stands there does so word for word.
    bare = handover(*(said(at, f"Crate {at}.") for at in range(1, 30)), language=language)
    fewer = within(bare, 120)
    assert fewer.left_out
    assert f"## {whole}" in fewer.text()


@pytest.mark.parametrize(
    ("language", "day", "today"),
    [
        (Language.ENGLISH, "21 November 2026 (Sat)", "22 November 2026 (Sun)"),
        (Language.CHINESE, "2026年11月21日（星期六）", "2026年11月22日（星期日）"),
    ],
)
def test_what_was_said_on_another_day_stands_under_it(language: Language, day: str, today: str):
    made = handover(
        said(1, "Tomorrow I have my driving test.", day=21), said(2, "Luck!", Role.ASSISTANT, 21),
        said(3, "I passed."), said(4, "Bravo!", Role.ASSISTANT), language=language,
    ).text()  # fmt: skip
    lines = made.splitlines()
    assert [each for each in lines if "2026" in each] == [day, today]
    assert lines.index(day) < lines.index("Tomorrow I have my driving test.")
    assert lines.index("Luck!") < lines.index(today) < lines.index("I passed.")


def test_of_what_was_said_today_no_day_is_told():
    made = handover(said(1, "I have my driving test."), said(2, "Luck!", Role.ASSISTANT))
    assert "2026" not in made.text()


def test_a_day_is_that_of_who_speaks():
    late = datetime.fromisoformat("2026-11-21T20:30:00-08:00")  # the 22nd in UTC
    message = Message(1, "m1", Role.USER, "Good night.", late, session_id="s1")
    assert "21 November 2026 (Sat)\n" in handover(message).text()


@pytest.mark.parametrize("budget", range(90, 460, 4))
def test_what_comes_first_has_its_day_where_older_ones_are_left_out(budget: int):
    messages = [said(at, f"Crate {at} is full of tea.", day=21) for at in range(1, 20)]
    held = within(handover(*messages, said(20, "Thanks.")), budget)
    lines = held.text().splitlines()
    first = held.messages[0]
    assert ("21 November 2026 (Sat)" in lines) == (first.seq < 20)
    assert ("22 November 2026 (Sun)" in lines) == (first.seq < 20)
    if first.seq > 1:
        one_more = [*messages[first.seq - 2 :], said(20, "Thanks.")]
        more = replace(held, recent=exchanges(one_more), left_out=first.seq - 2)
        assert count(more.text()) > budget - count("21 November 2026 (Sat)\n\n")


def test_the_document_is_counted_as_a_whole():
    """Tokens of a text may be more than those of its lines together."""
    whole = handover(*(said(at, f"Crate {at} is full of tea.", day=21) for at in range(1, 20)))
    lengths = set()
    for budget in range(3, 80):
        held = whole.within(budget, lambda text: len(text) // 20, lambda text, _: text)
        assert len(held.text()) // 20 <= budget
        lengths.add(len(held.messages))
    assert len(lengths) > 4
