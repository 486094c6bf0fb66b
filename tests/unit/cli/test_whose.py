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
        ("jobs nora", "memci jobs --agent nora"),
        ("nodes nora", "memci nodes --agent nora"),
        ("nodes nora --graph", "memci nodes --agent nora"),
        ("retry nora", "memci retry --agent nora"),
        ("sessions nora", "memci sessions --agent nora"),
        ("compress nora", "memci compress --agent nora"),
        ("watch -a nora", "memci watch nora"),
        ("export --agent=nora", "memci export nora"),
        ("pages nora", "memci pages --agent nora"),
        ("pages --json nora", "memci pages --agent nora"),
        ("pages undo nora", "memci pages undo --agent nora"),
        ("pages window nora --json", "memci pages window --agent nora"),
    ],
)
def test_what_was_meant_is_told(monkeypatch, capsys, line: str, meant: str):
    assert said(line, monkeypatch, capsys).splitlines()[-1] == f"Did you mean: {meant}"


@pytest.mark.parametrize(
    "line",
    ["jobs", "recall tea", "settings nora", "jobs nora --agent nora", "jobs ../x", "usage",
     "usage --agent", "usage nora --agent nora", "watch nora --every x", "doctor nora", "pages",
     "pages undo", "pages show nora",
     "pages --json undo nora", "pages move-page usr-1 usr-2"],
)  # fmt: skip
def test_nothing_is_guessed(monkeypatch, capsys, line: str):
    assert "Did you mean" not in said(line, monkeypatch, capsys)
