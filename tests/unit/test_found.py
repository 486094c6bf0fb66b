"""What a model is told of a recall that finds nothing."""

from __future__ import annotations

import pytest

from memci.commands.tools.found import of_recall
from memci.domain.memory.recall import Miss
from memci.shapes.memory_tools import FoundList
from memci.shapes.read import RecallAnswer
from memci.shapes.tools import BY_NAME


def told(miss: Miss | None, *keywords: str) -> FoundList:
    answer = RecallAnswer(memories=[], forgotten=[], miss=miss, seq=1, pending=0)
    return of_recall(answer, keywords)


@pytest.mark.parametrize("miss", list(Miss))
@pytest.mark.parametrize("keyword", ["ferry", "渡轮"])
def test_why_nothing_was_found_names_a_tool_that_goes_on(miss: Miss, keyword: str) -> None:
    note = told(miss, keyword).note or ""
    reason, step = note.split("；" if keyword == "渡轮" else "; ", 1)
    assert reason.startswith("[")
    assert "search" in step
    assert BY_NAME["search"].for_agents


def test_far_from_the_topic_there_are_more_ways() -> None:
    note = told(Miss.OUT_OF_REACH, "ferry").note or ""
    assert "depth" in note
    assert "focus" in note
    assert "depth" in BY_NAME["recall"].arguments
