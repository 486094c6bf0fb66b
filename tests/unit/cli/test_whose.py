"""A command with a misplaced agent suggests the right command."""

from __future__ import annotations

import sys

import pytest

from memci.cli import app


def errors(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["memci", *line.split()])
    assert app.run() == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("jobs list nora", "memci jobs list --agent nora"),
        ("memory nodes nora", "memci memory nodes --agent nora"),
        ("memory nodes nora --graph", "memci memory nodes --agent nora"),
        ("jobs retry nora", "memci jobs retry --agent nora"),
        ("sessions list nora", "memci sessions list --agent nora"),
        ("memory watch nora", "memci memory watch --agent nora"),
        ("pages tree --json nora", "memci pages tree --agent nora"),
        ("pages undo nora", "memci pages undo --agent nora"),
        ("pages window nora --json", "memci pages window --agent nora"),
    ],
)
def test_the_right_command_is_suggested(monkeypatch, capsys, line: str, suggestion: str):
    assert errors(line, monkeypatch, capsys).splitlines()[-1] == f"Did you mean: {suggestion}"


@pytest.mark.parametrize(
    "line",
    ["jobs list", "recall tea", "agents settings nora", "jobs list nora --agent nora",
     "jobs list ../x", "agents usage", "agents usage --agent", "memory watch nora --every x",
     "doctor nora", "pages undo", "pages show nora", "pages move-page usr-1 usr-2"],
)  # fmt: skip
def test_other_errors_suggest_nothing(monkeypatch, capsys, line: str):
    assert "Did you mean" not in errors(line, monkeypatch, capsys)
