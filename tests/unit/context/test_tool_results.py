"""Tool results of finished interactions are shortened to one line (R13)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.domain.context.recent_messages import digest_of_interaction, head, one_line, tail
from memci.domain.session.interaction import Interaction, interactions
from memci.message import Message, Role
from tests.support.talk import BEGIN


def look(arguments: str, result: str) -> Interaction:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    (one,) = interactions(
        [
            Message(1, "m1", Role.USER, "Where?\nAnd when?", BEGIN),
            Message(2, "m2", Role.ASSISTANT, None, BEGIN, tool_calls=(call,)),
            Message(3, "m3", Role.TOOL, result, BEGIN, tool_call_id="c1"),
            Message(4, "m4", Role.ASSISTANT, "There.\nAt eight.", BEGIN),
        ]
    )
    return one


def arguments_of(interaction: Interaction) -> Any:
    call = interaction.messages[1].tool_calls[0]
    return json.loads(call["function"]["arguments"])


def test_short_results_are_unchanged() -> None:
    (alone,) = interactions([Message(1, "m1", Role.USER, "x\ny" * 900, BEGIN)])
    for one in (look('{ "at": 8 }', "on time"), alone):
        assert digest_of_interaction(one) == one


def test_a_long_result_is_one_line_with_its_beginning_and_its_end() -> None:
    one = look("{}", "Connecting …\n" + "row\n" * 500 + "error: disk full")
    brief = digest_of_interaction(one).messages
    assert (brief[2].content or "").startswith("Connecting … row")
    assert (brief[2].content or "").endswith("error: disk full")
    assert "\n" not in (brief[2].content or "")
    assert len(brief[2].content or "") <= 240
    assert [brief[0], brief[1], brief[3]] == [one.messages[at] for at in (0, 1, 3)]


@pytest.mark.parametrize("value", ["x" * 5_000, ["x"] * 500, {"deep": "字" * 900}])
def test_long_arguments_are_cut_and_stay_json(value: object) -> None:
    one = look(json.dumps({"path": "a.txt", "text": value}), "written")
    arguments = arguments_of(digest_of_interaction(one))
    assert arguments["path"] == "a.txt"
    assert len(json.dumps(arguments, ensure_ascii=False)) < 300


def test_arguments_that_are_no_json_are_cut_to_a_text() -> None:
    assert len(arguments_of(digest_of_interaction(look("x" * 900, "ok")))) <= 160


def test_one_line_joins_lines_and_cuts_the_middle() -> None:
    assert one_line("a\n b") == "a b"
    assert one_line("x" * 300, 100, 20) == "x" * 77 + " … " + "x" * 20
    assert one_line("x" * 300, 100, 0) == "x" * 97 + " … "


@pytest.mark.parametrize(
    ("text", "most", "first", "last"),
    [
        ("the total is 12,345 euros and 67,890 cents", 14, "the total is", "67,890 cents"),
        ('{"total":12345,"tax":67890}', 10, '{"total":', '":67890}'),
        ("don't cut half-words here or there", 8, "don't", "or there"),
        ("合计一万二千三百四十五元整", 5, "合计一万二", "四十五元整"),
        ("在Oslo住过三年的人是Svetlana", 4, "在", "lana"),
        ("x" * 50, 10, "x" * 10, "x" * 10),
        ("98765432109876 is the sum of 12345678901234", 10, "", ""),
        ("１２３４５元整", 3, "", "元整"),
        ("short", 9, "short", "short"),
    ],
)
def test_words_and_figures_are_not_cut(text: str, most: int, first: str, last: str) -> None:
    assert (head(text, most), tail(text, most)) == (first, last)


@given(st.text(), st.integers(0, 40))
def test_head_and_tail_are_a_beginning_and_an_end(text: str, most: int) -> None:
    first, last = head(text, most), tail(text, most)
    assert text.startswith(first)
    assert text.endswith(last)
    assert max(len(first), len(last)) <= most
