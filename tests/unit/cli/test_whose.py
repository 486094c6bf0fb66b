"""An agent that is named in the wrong way is told how to be named."""

from __future__ import annotations

import sys

import pytest

from memci.cli import app


def said(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["memci", *line.split()])
    assert app.run() == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "meant"),
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
def test_what_was_meant_is_told(monkeypatch, capsys, line: str, meant: str):
    assert said(line, monkeypatch, capsys).splitlines()[-1] == f"Did you mean: {meant}"


@pytest.mark.parametrize(
    "line",
    ["jobs list", "recall tea", "agents settings nora", "jobs list nora --agent nora",
     "jobs list ../x", "agents usage", "agents usage --agent", "memory watch nora --every x",
     "doctor nora", "pages undo", "pages show nora", "pages move-page usr-1 usr-2"],
)  # fmt: skip
def test_nothing_is_guessed(monkeypatch, capsys, line: str):
    assert "Did you mean" not in said(line, monkeypatch, capsys)
