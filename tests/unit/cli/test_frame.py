"""Frames of `memci memory watch`."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from memci.cli.network.watch import Observation, RemovedMemory, frame
from memci.domain.memory.node import RemovalReason
from memci.schemas.agents import AgentAnswer, PassProgress
from memci.schemas.network import NetworkNode, PassAnswer
from tests.support.networks import THEN, entity, network, node


def agent(**changed: Any) -> AgentAnswer:
    values = {
        "agent_id": "ada", "messages": 7, "seq": 7, "pending": 0, "nodes": 3, "links": 2,
        "dangling": 1, "focus": ["Lisbon"], "queued": 0, "dead": 0, "lease": None,
        "pass_progress": None, "passes": 3, "paused": False, "halted_by": None, "idle": True,
    }  # fmt: skip
    return AgentAnswer(**{**values, **changed})


def last_pass(**changed: Any) -> PassAnswer:
    values = {
        "number": 3, "state": "finished", "message_seq": 7, "started_at": THEN,
        "finished_at": THEN, "scanned": 3, "compressed": 1, "forgotten": 1, "broken": 1,
        "given_up": 0, "snapshot": True,
    }  # fmt: skip
    return PassAnswer(**{**values, **changed})


def observation(nodes: list[NetworkNode], **changed: Any) -> Observation:
    default = Observation(agent(nodes=len(nodes)), last_pass(), network(nodes, []), [], {})
    return replace(default, **changed)


def drawn(
    observed: Observation, *, width: int = 100, height: int | None = None, **options: Any
) -> list[str]:
    screen = Console(file=io.StringIO(), width=width, height=50, highlight=False, markup=False)
    screen.print(frame(observed, height=height, **options))
    assert isinstance(screen.file, io.StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


def test_a_frame_has_a_summary_and_shows_the_shortest_memories_first():
    nodes = [
        entity(1, "Lisbon", focus=True),
        node(2, "whole", length=100, importance=2.0),
        node(3, "half", length=50, importance=0.5),
        node(4, "nearly gone", length=5, importance=0.05),
    ]
    observed = observation(nodes, before={3: 60, 4: 5})
    assert drawn(observed) == [
        "ada  3 memories · 1 entity · 2 links · 1 dangling",
        "pass 3 finished: 3 scanned, 1 shortened, 1 forgotten, 1 link broken · idle",
        "in focus: Lisbon",
        "",
        "memory  importance of 2.00  length                       about",
        "    #4  ········ 0.05       █···········   5% of 100     nearly gone",
        "    #3  ██······ 0.50       ██████······  50% of 100  ↓  half",
        "    #2  ████████ 2.00       ████████████ 100% of 100     whole",
    ]


def test_a_frame_fits_its_height_and_counts_the_hidden_memories():
    observed = observation(
        [node(each) for each in range(1, 41)], removed=[RemovedMemory(50, "x", 3, "slot")] * 9
    )
    lines = drawn(observed, height=24)
    assert len(lines) <= 24
    assert sum("[forgotten]" in line for line in lines) == 6
    shown = sum(line.startswith("   ") for line in lines)
    assert f"… and {40 - shown} more, that have faded less" in lines


@pytest.mark.parametrize("width", [40, 60, 100])
def test_wide_words_stay_in_their_column(width: int):
    seen = observation(
        [node(1, "我们准备四月去云南旅行" * 9), node(2, "words " * 40)],
        removed=[RemovedMemory(9, "一把黄色的雨伞" * 20, 3, "threshold")],
        about=agent(focus=["霸王龙" * 40]),
    )
    assert max(map(cell_len, drawn(seen, width=width))) <= width


def test_a_forgotten_memory_is_shown_with_its_pass_and_reason():
    seen = observation(
        [],
        removed=[RemovedMemory(9, "an umbrella", 3, "threshold"), RemovedMemory(8, None, None, "")],
    )
    assert drawn(seen)[-2:] == [
        "[forgotten] #9 in pass 3 (threshold): an umbrella",
        "[forgotten] #8 lately",
    ]


def test_merged_and_erased_memories_are_not_called_forgotten():
    removed = [
        RemovedMemory(9, "a lamp", 3, "into #12", RemovalReason.MERGED),
        RemovedMemory(8, None, 3, "", RemovalReason.ERASED),
    ]
    assert drawn(observation([], removed=removed))[-2:] == [
        "[merged] #9 in pass 3 (into #12): a lamp",
        "[erased] #8 in pass 3",
    ]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"latest": None}, "no pass yet · idle"),
        ({"about": agent(paused=True, idle=False)}, "1 link broken · paused"),
        (
            {"about": agent(idle=False, pass_progress=PassProgress(number=4, scanned=2, left=9))},
            "pass 4: 2 scanned, 9 left · busy",
        ),
        ({"latest": last_pass(state="cut_short")}, "pass 3 cut short: 3 scanned"),
    ],
)
def test_a_frame_shows_the_progress_of_the_pass(changed: dict[str, Any], expected: str):
    assert expected in drawn(observation([node(1)], **changed))[1]


def test_a_problem_is_shown_and_control_characters_are_not_printed():
    evil = "\x1b]0;x\x07 \x9b2J"
    observed = observation(
        [node(1, evil)], removed=[RemovedMemory(2, evil, 1, evil)], about=agent(focus=[evil])
    )
    lines = drawn(observed, trouble="no answer; trying again")
    assert "no answer; trying again" in lines
    assert all(character.isprintable() for line in lines for character in line)
