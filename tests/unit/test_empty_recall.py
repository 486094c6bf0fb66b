"""What a model is told of a recall that finds nothing."""

from __future__ import annotations

from datetime import datetime

import pytest

from memci.commands.tools.memory_reads import found_from_recall, moment
from memci.domain.memory.recall import Miss
from memci.schemas.memory_tools import FoundList
from memci.schemas.reads import RecallAnswer
from memci.schemas.tool_table import BY_NAME


def told(miss: Miss | None, *keywords: str) -> FoundList:
    answer = RecallAnswer(memories=[], forgotten=[], miss=miss, seq=1, pending=0)
    return found_from_recall(answer, keywords)


@pytest.mark.parametrize("miss", list(Miss))
@pytest.mark.parametrize("keyword", ["ferry", "渡轮"])
def test_why_nothing_was_found_names_a_tool_that_goes_on(miss: Miss, keyword: str) -> None:
    note = told(miss, keyword).note or ""
    reason, step = note.split("；" if keyword == "渡轮" else "; ", 1)
    assert reason.startswith("[")
    assert "search" in step
    assert BY_NAME["search"].for_agents


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-11-18T06:30:59+08:00", "2026-11-18 06:30+08:00"),
        ("2026-11-17T20:30:00-09:30", "2026-11-17 20:30-09:30"),
        ("2026-11-18T06:30:00+00:00", "2026-11-18 06:30"),
    ],
)
def test_when_something_was_said_is_told_by_the_speakers_clock(at: str, told: str) -> None:
    assert moment(datetime.fromisoformat(at)) == told
    assert moment(None) == ""


def test_far_from_the_topic_there_are_more_ways() -> None:
    note = told(Miss.OUT_OF_REACH, "ferry").note or ""
    assert "depth" in note
    assert "focus" in note
    assert "depth" in BY_NAME["recall"].arguments
