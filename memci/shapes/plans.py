"""A session's plan: asked, changed and answered (R7)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, StrictInt, StringConstraints, model_validator

from memci.domain.context.plan import LONGEST_STEP, MOST_STEPS, Plan, StepState
from memci.shapes.base import Answer, Request, Text

# A closed set that rules of the domain use too belongs to the surface as well.
__all__ = ["StepState"]


def _one_line(text: str) -> str:
    if not (line := " ".join(text.split())):
        raise ValueError("must say something")
    return line


# As the domain reads it: "[x] Read the code".
PlanStepText = Annotated[
    Text, StringConstraints(max_length=LONGEST_STEP), AfterValidator(_one_line)
]


class UpdatePlan(Request):
    """Set all steps of this conversation's plan; or, by step (from 1) and state, how one is."""

    steps: Annotated[
        Annotated[list[PlanStepText], Field(min_length=1, max_length=MOST_STEPS)] | None,
        Field(description="In order; [x] before what is done"),
    ] = None
    step: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)] | None = None
    state: StepState | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        by_step = self.step is not None and self.state is not None
        if by_step is not (self.steps is None) or (self.step is None) is not (self.state is None):
            raise ValueError("expected either steps, or step and state")
        return self


class PlanStepOut(Answer):
    """A step; one of a plan is active as long as any waits."""

    step: int = Field(description="Its place, from 1")
    text: str
    state: StepState


class PlanAnswer(Answer):
    """What a session follows; no steps: it has no plan."""

    session_id: str | None = Field(None, description="Null: what is said in no session")
    steps: list[PlanStepOut]

    @classmethod
    def of(cls, plan: Plan | None, session_id: str | None) -> Self:
        """Return a plan as it is answered."""
        steps = enumerate(plan.steps if plan else (), 1)
        out = [PlanStepOut(step=at, text=each.text, state=each.state) for at, each in steps]
        return cls(session_id=session_id, steps=out)
