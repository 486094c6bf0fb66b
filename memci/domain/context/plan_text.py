"""A plan as a model reads it, in as few words as can be (R7, R13)."""

from __future__ import annotations

import re

from memci.domain.context.plan import Plan, Step, StepState
from memci.domain.language import Language

_HEADINGS = {Language.ENGLISH: "Plan:", Language.CHINESE: "计划："}
_MARKS = {
    StepState.PENDING: "[ ]",
    StepState.ACTIVE: "[>]",
    StepState.DONE: "[x]",
    StepState.DROPPED: "[-]",
}

_LISTED = re.compile(r"\d+\. \[[ >x-]\] (.+)")


def plan_text(plan: Plan | None, language: Language) -> str:
    """Return a plan, a step a line: ``1. [x] …``; empty without one, and when no step is left.

    Marks: ``[>]`` is worked on, ``[-]`` was dropped.
    """
    return "" if plan is None or plan.is_over else whole_text(plan, language)


def whole_text(plan: Plan, language: Language) -> str:
    """Return a plan likewise, also when no step is left."""
    lines = [_line(place, each) for place, each in enumerate(plan.steps, 1)]
    return "\n".join([_HEADINGS[language], *lines])


def steps_listed(text: str) -> frozenset[str]:
    """Return the steps of a text that is nothing but a plan as it is written here; else none."""
    heading, *lines = text.strip().splitlines() or [""]
    listed = [_LISTED.fullmatch(each) for each in lines]
    if heading not in _HEADINGS.values() or not all(listed):
        return frozenset()
    return frozenset(each[1] for each in listed if each)


def _line(place: int, step: Step) -> str:
    return f"{place}. {_MARKS[step.state]} {step.text}"
