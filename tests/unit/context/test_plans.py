"""Plans are read from lists, tool calls and sentences, and written as text (R7)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.domain.session.plan import (
    Item,
    Plan,
    StepState,
    finished_message_seqs,
    is_finished,
    made_of,
    plan_text,
    with_states,
)
from memci.domain.session.plan_tracker import Progress, called_plan, listed, listing_in, progress_in
from memci.language.detection import Language

PENDING, ACTIVE, DONE, DROPPED = StepState
READ = ["Read the code", "Write the tests"]
CODE = ["读代码", "写测试"]

LISTS: list[tuple[str, list[str], list[StepState | None], bool]] = [
    ("Here is the plan:\n1. Read the code\n2. Write the tests", READ, [None, None], True),
    ("I'll do this:\n\n1) Read the code\n\n2) Write the tests", READ, [None, None], True),
    ("- [x] Read the code\n- [ ] Write the tests", READ, [DONE, PENDING], True),
    ("* [>] Read the code\n* [-] Write the tests", READ, [ACTIVE, DROPPED], True),
    ("✅ Read the code\n⬜ Write the tests", READ, [DONE, PENDING], True),
    ("1. [x] Read the code\n2. [ ] Write the tests", READ, [DONE, PENDING], True),
    ("Step 1: Read the code\nStep 2: Write the tests", READ, [None, None], True),
    ("**Step 1:** Read the code\n**Step 2:** Write the tests", READ, [None, None], True),
    (
        "Plan:\n1. Read the code (done)\n2. Write the tests (in progress)",
        READ,
        [DONE, ACTIVE],
        True,
    ),
    ("Plan:\n1. ~~Read the code~~\n2. Write the tests", READ, [DONE, None], True),
    (
        "Plan:\n1. Read the code\n   - file a\n   - file b\n2. Write the tests",
        READ,
        [None] * 2,
        True,
    ),
    ("计划如下：\n一、读代码\n二、写测试", CODE, [None, None], True),
    ("第一步：读代码\n第二步：写测试", CODE, [None, None], True),
    ("步骤1：读代码\n步骤2：写测试", CODE, [None, None], True),
    ("接下来我会：\n① 读代码\n② 写测试", CODE, [None, None], True),
    ("计划：\n1、读代码（已完成）\n2、写测试（进行中）", CODE, [DONE, ACTIVE], True),
    ("Ingredients:\n1. Read the code\n2. Write the tests", READ, [None, None], False),
    ("有两本书：\n1. 读代码\n2. 写测试", CODE, [None, None], False),
]
NO_LISTS = (
    "Here is the plan: we wait.",
    "The plan:\n1. One step alone",
    "The plan:\n1. First\n3. Third",
    "```\n1. Read the code\n2. Write the tests\n```",
    "It was 3.5 degrees.\nIt was 4.5 degrees.",
)


@pytest.mark.parametrize(("text", "steps", "states", "is_plan"), LISTS)
def test_lists_are_read_as_plans(text, steps, states, is_plan):
    listing = listing_in(text)
    assert listing is not None
    assert [each.text for each in listing.items] == steps
    assert [each.state for each in listing.items] == states
    assert listing.is_plan is is_plan


@pytest.mark.parametrize("text", NO_LISTS)
def test_other_texts_are_no_lists(text):
    assert listing_in(text) is None


CALLS: list[tuple[str, Any]] = [
    ("update_plan", '{"plan": [{"step": "A", "status": "completed"}, {"step": "B"}]}'),
    ("TodoWrite", '{"todos": [{"content": "A", "status": "completed"}, {"content": "B"}]}'),
    ("write_todos", {"todos": [{"title": "A", "status": "done"}, "B"]}),
    ("mcp.set_plan", '[{"text": "A", "state": "finished"}, {"text": "B"}]'),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_calls_of_plan_tools_are_read(name, arguments):
    call = {"function": {"name": name, "arguments": arguments}}
    assert called_plan([call]) == (Item("A", DONE), Item("B"))


@pytest.mark.parametrize(
    "function",
    [
        {"name": "get_weather", "arguments": '{"plan": ["A", "B"]}'},
        {"name": "explain", "arguments": '{"steps": ["A", "B"]}'},
        {"name": "update_plan", "arguments": "not JSON"},
        {"name": "update_plan", "arguments": '{"plan": 3}'},
        {"name": "update_plan", "arguments": "[" * 5_000},
        {"name": "update_plan"},
        "update_plan",
    ],
)
def test_calls_without_a_plan_are_ignored(function):
    assert called_plan([{"function": function}]) == ()


PROGRESS: list[tuple[str, list[Progress]]] = [
    ("Step 2 is done.", [Progress(2, DONE)]),
    ("I have finished step two.", [Progress(2, DONE)]),
    ("The second step is now complete.", [Progress(2, DONE)]),
    ("Step 1 is done, moving on to step 2.", [Progress(1, DONE), Progress(2, ACTIVE)]),
    ("Now starting step 3.", [Progress(3, ACTIVE)]),
    ("Skipping step 4.", [Progress(4, DROPPED)]),
    ("All steps are done!", [Progress(None, DONE)]),
    ("This step is finished.", [Progress(0, DONE)]),
    ("完成了第二步。", [Progress(2, DONE)]),
    ("第二步已经做完了，开始第三步。", [Progress(2, DONE), Progress(3, ACTIVE)]),
    ("步骤2已完成。", [Progress(2, DONE)]),
    ("跳过第四步。", [Progress(4, DROPPED)]),
    ("所有步骤都已完成！", [Progress(None, DONE)]),
    ("这一步完成了。", [Progress(0, DONE)]),
    ("Step 2 is not done.", []),
    ("Once step 2 is done, I go on.", []),
    ("Is step 2 done?", []),
    ("I will skip step 4.", []),
    ("Step 2 is almost done.", []),
    ("第二步还没完成。", []),
    ("等第二步完成之后再说。", []),
    ("第二步完成了吗？", []),
    ("The recipe has steps.", []),
]


@pytest.mark.parametrize(("text", "expected"), PROGRESS)
def test_sentences_about_steps_are_read_as_progress(text, expected):
    assert progress_in(text) == expected


def plan_of(*texts: str, seq: int = 10) -> Plan:
    return made_of([Item(each) for each in texts], seq, "s", None)


def test_messages_belong_to_the_active_step():
    plan = with_states(plan_of("A", "B", "C"), [(1, DONE)], 13)
    plan = with_states(plan, [(2, DONE)], 20)
    assert [(each.first_seq, each.last_seq) for each in plan.steps] == [
        (11, 13),
        (14, 20),
        (21, None),
    ]
    assert finished_message_seqs(plan) == (range(11, 21),)
    assert is_finished(plan, 12, 16)
    assert not is_finished(plan, 10, 12)
    assert not is_finished(plan, 19, 21)


def test_messages_during_another_active_step_are_not_finished():
    plan = with_states(plan_of("A", "B"), [(2, ACTIVE)], 12)
    plan = with_states(plan, [(1, DONE)], 20)
    assert finished_message_seqs(plan) == (range(11, 13),)


def test_a_finished_step_can_be_active_again():
    plan = with_states(plan_of("A", "B"), [(1, DONE)], 12)
    plan = with_states(plan, [(1, ACTIVE), (2, PENDING)], 15)
    assert (plan.steps[0].first_seq, plan.steps[0].last_seq) == (11, None)
    assert finished_message_seqs(plan) == ()


def test_a_list_with_half_the_same_steps_updates_the_plan():
    plan = plan_of("Read the code", "Write the tests", "Ship it")
    items = [Item("read the code.", DONE), Item("Write the tests"), Item("Tell everybody")]
    after = listed(plan, items, 14, "s", None)
    assert after.made_seq == plan.made_seq
    assert [(each.text, each.state) for each in after.steps] == [
        ("Read the code", DONE),
        ("Write the tests", ACTIVE),
        ("Tell everybody", PENDING),
        ("Ship it", DROPPED),
    ]
    assert after.steps[2].said_seq == 14


def test_finished_steps_stay_if_only_the_others_are_listed():
    plan = with_states(plan_of("A step", "B step", "C step"), [(1, DONE)], 12)
    after = listed(plan, [Item("B step"), Item("C step")], 14, "s", None)
    assert [each.text for each in after.steps] == ["A step", "B step", "C step"]
    assert [each.state for each in after.steps] == [DONE, ACTIVE, PENDING]


def test_a_plan_is_written_as_a_short_list():
    plan = with_states(plan_of("Read", "Write", "Ship"), [(1, DONE), (3, DROPPED)], 12)
    assert plan_text(plan, Language.ENGLISH) == "Plan:\n1. [x] Read\n2. [>] Write\n3. [-] Ship"
    assert plan_text(plan, Language.CHINESE).startswith("计划：\n1. [x] Read")
    assert plan_text(with_states(plan, [(2, DONE)], 13), Language.ENGLISH) == ""
    assert plan_text(None, Language.ENGLISH) == ""
