"""The note for a model after a recall that found nothing."""

from __future__ import annotations

from datetime import datetime

import pytest

from memci.commands.tools.memory_reads import found_from_recall, moment
from memci.domain.memory.recall import Miss
from memci.schemas.reads import RecallAnswer
from memci.schemas.tools.memory import FoundList
from memci.schemas.tools.table import BY_NAME


def found_list(miss: Miss | None, *keywords: str) -> FoundList:
    answer = RecallAnswer(memories=[], forgotten=[], miss=miss, seq=1, pending=0)
    return found_from_recall(answer, keywords)


@pytest.mark.parametrize("miss", list(Miss))
@pytest.mark.parametrize("keyword", ["ferry", "渡轮"])
def test_the_note_has_a_reason_and_names_the_tool_search(miss: Miss, keyword: str) -> None:
    note = found_list(miss, keyword).note or ""
    reason, step = note.split("；" if keyword == "渡轮" else "; ", 1)
    assert reason.startswith("[")
    assert "search" in step
    assert BY_NAME["search"].for_agents


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-11-18T06:30:59+08:00", "2026-11-18 06:30+08:00"),
        ("2026-11-17T20:30:00-09:30", "2026-11-17 20:30-09:30"),
        ("2026-11-18T06:30:00+00:00", "2026-11-18 06:30"),
    ],
)
def test_times_keep_the_offset_of_the_speaker(at: str, expected: str) -> None:
    assert moment(datetime.fromisoformat(at)) == expected
    assert moment(None) == ""


def test_the_note_for_an_unreachable_memory_names_depth_and_focus() -> None:
    note = found_list(Miss.OUT_OF_REACH, "ferry").note or ""
    assert "depth" in note
    assert "focus" in note
    assert "depth" in BY_NAME["recall"].arguments
