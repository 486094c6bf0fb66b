"""The plan of a session, and its text for a model (R7, R13).

A message makes a plan, and later messages report on its steps. Messages while a step is active
belong to it: they are hidden first when the step is over (P13, R15).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memci.language.detection import Language

MOST_STEPS = 32
LONGEST_STEP = 200  # characters


class StepState(StrEnum):
    """The state of a step."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"
    DROPPED = "dropped"

    @property
    def is_over(self) -> bool:
        """True if the step is done or dropped."""
        return self in {StepState.DONE, StepState.DROPPED}


@dataclass(frozen=True, slots=True)
class Step:
    """One step."""

    text: str
    said_seq: int  # the message that contains it
    state: StepState = StepState.PENDING
    # Its first and last message in the session: from the one after it became active to the one
    # that ended it. None: it never was active, or still is.
    first_seq: int | None = None
    last_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a session; its steps count from 1."""

    made_seq: int  # the message that made it; unique within the agent
    session_id: str | None  # None: messages of no session
    user_id: str | None  # shown only in sessions of this user; None: in all
    steps: tuple[Step, ...]

    @property
    def is_over(self) -> bool:
        """True if no step is left."""
        return all(each.state.is_over for each in self.steps)


@dataclass(frozen=True, slots=True)
class Item:
    """A listed step; ``state`` is None if the list does not give it."""

    text: str
    state: StepState | None = None


def made_of(items: Iterable[Item], seq: int, session_id: str | None, user_id: str | None) -> Plan:
    """Return a new plan, made by the message of this seq; its first step becomes active."""
    steps = [
        _with_state(Step(each.text, seq), each.state or StepState.PENDING, seq)
        for each in list(items)[:MOST_STEPS]
    ]
    return Plan(seq, session_id, user_id, _with_active(steps, seq))


def with_states(plan: Plan, states: Iterable[tuple[int, StepState]], seq: int) -> Plan:
    """Return the plan with the states of some steps set, by position, as of the message ``seq``.

    Unknown positions are ignored.
    """
    steps = list(plan.steps)
    for position, state in states:
        if 1 <= position <= len(steps):
            steps[position - 1] = _with_state(steps[position - 1], state, seq)
    return replace(plan, steps=_with_active(steps, seq))


def finished_message_seqs(plan: Plan) -> tuple[range, ...]:
    """Return the messages of the session that belong to finished steps, as ranges in order.

    Messages that also belong to an active step are left out.
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
    """Return True if all messages of the session from one to another belong to finished steps."""
    spans = finished_message_seqs(plan)
    return any(first_seq in each and last_seq in each for each in spans)


def is_worked_on(plan: Plan, last_seq: int) -> bool:
    """Return True if an interaction that ends with this message belongs to an active step."""
    return any(
        each.state is StepState.ACTIVE and each.first_seq is not None and each.first_seq <= last_seq
        for each in plan.steps
    )


def _with_state(step: Step, state: StepState, seq: int) -> Step:
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


def _with_active(steps: Sequence[Step], seq: int) -> tuple[Step, ...]:
    if any(each.state is StepState.ACTIVE for each in steps):
        return tuple(steps)
    waits = next((p for p, each in enumerate(steps) if each.state is StepState.PENDING), None)
    return tuple(
        _with_state(each, StepState.ACTIVE, seq) if place == waits else each
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
    """Return a plan with a line for each step, such as ``1. [x] …``; "" if no step is left.

    ``[>]`` marks an active step, ``[-]`` a dropped one.
    """
    return "" if plan is None or plan.is_over else whole_text(plan, language)


def whole_text(plan: Plan, language: Language) -> str:
    """Return a plan as ``plan_text`` does, also if no step is left."""
    steps = enumerate(plan.steps, 1)
    lines = (f"{place}. {_MARKS[step.state]} {step.text}" for place, step in steps)
    return "\n".join([_HEADINGS[language], *lines])


def steps_listed(text: str) -> frozenset[str]:
    """Return the steps of a text that is a plan written by ``whole_text``; else none."""
    heading, *lines = text.strip().splitlines() or [""]
    listed = [_LISTED.fullmatch(each) for each in lines]
    if heading not in _HEADINGS.values() or not all(listed):
        return frozenset()
    return frozenset(each[1] for each in listed if each)
