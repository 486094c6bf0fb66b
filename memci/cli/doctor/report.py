"""The doctor's findings for people."""

from __future__ import annotations

from collections.abc import Sequence

from memci.cli.doctor.finding import Finding, Level
from memci.cli.output import say

_SIGNS = {Level.OK: ("✓", "green"), Level.NOTE: ("!", "yellow"), Level.WRONG: ("✗", "bold red")}


def print_findings(findings: Sequence[Finding]) -> None:
    """Print each finding, and what to do below it; at the end how many are wrong."""
    for each in findings:
        sign, style = _SIGNS[each.level]
        say(f"{sign} {each.subject:<14} {each.text}", style=style)
        if each.advice:
            say(f"    → {each.advice}")
    count = sum(each.level is Level.WRONG for each in findings)
    say()
    say("all is well" if not count else f"{count} to put right, the first one first")
