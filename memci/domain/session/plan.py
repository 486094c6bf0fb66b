"""The plan of a session, and its text for a model (R7, R13).

A plan is made by a message, and later messages tell of its steps. What is said while a step is
active belongs to it: that is what is hidden first when the step is over (P13, R15).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memci.language.detection import Language

MOST_STEPS = 32
LONGEST_STEP = 200  # characters of one


class StepState(StrEnum):
    """How far a step has come."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"
    DROPPED = "dropped"

    @property
    def is_over(self) -> bool:
        """Whether nothing more is done for it."""
        return self in {StepState.DONE, StepState.DROPPED}


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``said_seq``: the message whose words it is.

    The session's messages from ``first_seq`` to ``last_seq`` belong to it, both included: those
    after the one with which it became active, up to that with which it was over. None: it never was
    active, or still is.
    """

    text: str
    said_seq: int
    state: StepState = StepState.PENDING
    first_seq: int | None = None
    last_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a session (None: what was said in none), in order; they count from 1.

    ``made_seq`` is the message that it was made by: no two plans of an agent have the same.
    ``user_id``: in whose sessions alone it is seen; None: in all.
    """

    made_seq: int
    session_id: str | None
    user_id: str | None
    steps: tuple[Step, ...]

    @property
    def is_over(self) -> bool:
        """Whether no step is left to do."""
        return all(each.state.is_over for each in self.steps)


@dataclass(frozen=True, slots=True)
class Item:
    """A step as somebody lists it; ``state`` None: nothing is said of how far it has come."""

    text: str
    state: StepState | None = None


def made_of(items: Iterable[Item], seq: int, session_id: str | None, user_id: str | None) -> Plan:
    """Return a new plan, made by the message of this seq; its first step is active from then on."""
    steps = [
        _moved(Step(each.text, seq), each.state or StepState.PENDING, seq)
        for each in list(items)[:MOST_STEPS]
    ]
    return Plan(seq, session_id, user_id, _going_on(steps, seq))


def with_states(plan: Plan, states: Iterable[tuple[int, StepState]], seq: int) -> Plan:
    """Return the plan with the states of some steps set, by position, as of the message ``seq``.

    Positions that it does not have mean nothing.
    """
    steps = list(plan.steps)
    for position, state in states:
        if 1 <= position <= len(steps):
            steps[position - 1] = _moved(steps[position - 1], state, seq)
    return replace(plan, steps=_going_on(steps, seq))


def finished_message_seqs(plan: Plan) -> tuple[range, ...]:
    """Return which messages of the plan's session belong to steps that are over, in order.

    Ranges that do not touch; what is said beside a step that is still active is not among them.
    """
    active = [s.first_seq for s in plan.steps if s.state is StepState.ACTIVE and s.first_seq]
    below = min(active, default=None)
    spans = sorted(
        (each.first_seq, each.last_seq + 1 if below is None else min(each.last_seq + 1, below))
        for each in plan.steps
        if each.state.is_over and each.first_seq is not None and each.last_seq is not None
    )
    merged: list[range] = []
    for first, end in spans:
        if merged and first <= merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(end, merged[-1].stop))
        elif first < end:
            merged.append(range(first, end))
    return tuple(merged)


def is_finished(plan: Plan, first_seq: int, last_seq: int) -> bool:
    """Tell whether all of the plan's session between two messages belongs to steps that are over.

    Both ends included.
    """
    spans = finished_message_seqs(plan)
    return any(first_seq in each and last_seq in each for each in spans)


def is_worked_on(plan: Plan, last_seq: int) -> bool:
    """Tell whether what ends with a message of the plan's session belongs to an active step."""
    return any(
        each.state is StepState.ACTIVE and each.first_seq is not None and each.first_seq <= last_seq
        for each in plan.steps
    )


def _moved(step: Step, state: StepState, seq: int) -> Step:
    if state is step.state:
        return step
    match state:
        case StepState.PENDING:
            return replace(step, state=state, first_seq=None, last_seq=None)
        case StepState.ACTIVE:
            return replace(step, state=state, first_seq=step.first_seq or seq + 1, last_seq=None)
        case StepState.DONE | StepState.DROPPED:
            ended = seq if step.state is StepState.ACTIVE else step.last_seq
            if step.first_seq is None or ended is None or ended < step.first_seq:
                return replace(step, state=state, first_seq=None, last_seq=None)
            return replace(step, state=state, last_seq=ended)


def _going_on(steps: Sequence[Step], seq: int) -> tuple[Step, ...]:
    """Have the first step that waits be the active one, where none is."""
    if any(each.state is StepState.ACTIVE for each in steps):
        return tuple(steps)
    waits = next((p for p, each in enumerate(steps) if each.state is StepState.PENDING), None)
    return tuple(
        _moved(each, StepState.ACTIVE, seq) if place == waits else each
        for place, each in enumerate(steps)
    )


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
