"""How a comparison of two settings is printed."""

from __future__ import annotations

from collections.abc import Callable

from memci.cli.output import counted, print_table, say, shortened
from memci.shapes.trial import Trial, TrialContext, TrialsAnswer, TrialTotals

_WIDTH = 90
_MOST_IDS = 8


def print_trials(found: TrialsAnswer, *, most: int) -> None:
    """Print totals, then the questions on which the two differ most, at most so many."""
    sides = (found.first, found.second)
    print_table(("", *(side.name for side in sides)), _rows(found))
    say(f"{counted(len(found.trials), 'question')}; {found.overlap:.0%} of the messages that "
        "either gives are in both")  # fmt: skip
    differing = sorted(filter(_difference, found.trials), key=_difference, reverse=True)
    for trial in differing[:most]:
        say(f"\n{trial.agent}: {shortened(trial.query or '(no question)', _WIDTH)}")
        for side, context in zip(sides, (trial.first, trial.second), strict=True):
            say(f"  {side.name}: {_told(trial, context)}")
    if not differing:
        say("both give the same messages to every question")
    elif len(differing) > most:
        say(f"\nand {len(differing) - most} more that differ; --limit shows them")


def _rows(found: TrialsAnswer) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, Callable[[TrialTotals], str]]] = [
        ("tokens", lambda side: f"{side.mean_tokens:,.0f}"),
        ("messages", lambda side: f"{side.mean_messages:,.1f}"),
        ("p50 ms", lambda side: f"{side.p50_ms:,.1f}"),
        ("p95 ms", lambda side: f"{side.p95_ms:,.1f}"),
    ]
    if found.with_evidence:
        known = counted(found.with_evidence, "question")
        rows.append((f"evidence found, of {known}", lambda side: _percent(side.recall)))
    if found.first.as_recorded is not None:
        rows.append(("of what was given then", lambda side: _percent(side.as_recorded)))
    return [(name, cell(found.first), cell(found.second)) for name, cell in rows]


def _difference(trial: Trial) -> float:
    """How far apart: one for each whole share of evidence, and less for other messages."""
    recall = abs((trial.first.recall or 0.0) - (trial.second.recall or 0.0))
    either = {*trial.first.message_ids, *trial.second.message_ids}
    apart = 1 - len(trial.both) / len(either) if either else 0.0
    return 10 * recall + apart


def _told(trial: Trial, context: TrialContext) -> str:
    parts = [counted(len(context.message_ids), "message"), counted(context.tokens, "token")]
    if context.recall is not None:
        there = len(set(trial.evidence).intersection(context.message_ids))
        parts.append(f"evidence {there} of {len(trial.evidence)}")
    own = [each for each in context.message_ids if each not in set(trial.both)]
    if own:
        more = f" and {len(own) - _MOST_IDS} more" if len(own) > _MOST_IDS else ""
        parts.append(f"only here {' '.join(own[:_MOST_IDS])}{more}")
    return ", ".join(parts)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
