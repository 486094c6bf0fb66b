"""The examples of docs/questions.md are what is read (R10)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memci.language.question import analyse
from tests.support.asked_times import NOW, times

PAGE = (Path(__file__).parents[4] / "docs" / "questions.md").read_text()


def rows(heading: str) -> list[list[str]]:
    (table,) = re.findall(rf"\| {re.escape(heading)} \|\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE)
    return [
        [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
        for line in table.splitlines()
    ]


@pytest.mark.parametrize(("question", "expected"), rows("question | times"))
def test_times(question: str, expected: str) -> None:
    assert " ".join(times(question)) == expected


@pytest.mark.parametrize(("question", "expected"), rows("question | names"))
def test_names(question: str, expected: str) -> None:
    assert ", ".join(analyse(question, NOW).entities) == expected


@pytest.mark.parametrize(("question", "asks", "hits"), rows("question | asks | hits"))
def test_asks(question: str, asks: str, hits: str) -> None:
    found = analyse(question, NOW)

    assert found.asks.value == asks
    assert found.k == int(hits)


@pytest.mark.parametrize(("question", "expected"), rows("question | occasion"))
def test_order(question: str, expected: str) -> None:
    assert (analyse(question, NOW).order or "") == expected


@pytest.mark.parametrize("question", re.findall('["“](When did Ann .+?|他什么.+?)["”]', PAGE))
def test_parts(question: str) -> None:
    assert len(analyse(question, NOW).parts) == 2
