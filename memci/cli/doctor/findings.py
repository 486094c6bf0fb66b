"""What a check found, and how findings are printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memci.cli.output import counted, say


class Level(StrEnum):
    """Severity of a finding."""

    OK = "ok"
    NOTE = "note"  # works, but someone should know
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check; ``advice`` says how to fix the problem."""

    level: Level
    subject: str
    text: str
    advice: str = ""


def ok(subject: str, text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(Level.OK, subject, text)


def note(subject: str, text: str, advice: str = "") -> Finding:
    """Return a finding that someone should know."""
    return Finding(Level.NOTE, subject, text, advice)


def wrong(subject: str, text: str, advice: str) -> Finding:
    """Return a finding that something does not work."""
    return Finding(Level.WRONG, subject, text, advice)


_SIGNS = {Level.OK: ("✓", "green"), Level.NOTE: ("!", "yellow"), Level.WRONG: ("✗", "bold red")}


def print_findings(findings: Sequence[Finding]) -> None:
    """Print each finding with its advice, then the number of problems."""
    for each in findings:
        sign, style = _SIGNS[each.level]
        say(f"{sign} {each.subject:<14} {each.text}", style=style)
        if each.advice:
            say(f"    → {each.advice}")
    count = sum(each.level is Level.WRONG for each in findings)
    say()
    say("no problems" if not count else f"{counted(count, 'problem')}; start with the first")
