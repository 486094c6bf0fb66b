"""The plan of a session, set by whoever makes it (R7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memci.commands.tools.place import Place
from memci.domain.context.key_messages import words_of
from memci.domain.context.plan import Plan, with_states
from memci.domain.context.plan_lists import item_of
from memci.domain.context.plan_text import whole_text
from memci.domain.context.plan_tracker import listed
from memci.domain.language import language_of
from memci.domain.pages.viewer import Viewer
from memci.errors import ConflictError, NotFoundError
from memci.shapes.plans import PlanAnswer, UpdatePlan
from memci.storage.plans import last_seq, read_plan, save_plan
from memci.storage.session import Connection


@dataclass(frozen=True, slots=True)
class PlanChange:
    """A plan as it is to be; ``said``: words that are new, which a message is to hold."""

    plan: Plan
    said: str | None


def change_plan(connection: Connection, place: Place, asked: UpdatePlan, seq: int) -> PlanChange:
    """Return the plan as it is asked for, as of the message ``seq``; nothing is written.

    Raises ``ConflictError`` for no plan, ``NotFoundError`` for no such step.
    """
    plan = read_plan(connection, place.agent_id, Viewer(place.session_id, place.user_id))
    if asked.steps is not None:
        items = [item_of(each) for each in asked.steps]
        known = {words_of(each.text) for each in plan.steps} if plan else set()
        after = listed(plan, items, seq, place.session_id, place.user_id)
        is_new = plan is None or after.made_seq != plan.made_seq
        if not is_new and all(words_of(each.text) in known for each in items):
            return PlanChange(after, None)
        return PlanChange(after, whole_text(after, language_of(" ".join(i.text for i in items))))
    if plan is None:
        raise ConflictError("there is no plan in this session yet: give its steps")
    step, state = asked.step or 0, asked.state
    if step > len(plan.steps) or state is None:
        raise NotFoundError(f"there is no step {step}: the plan has {len(plan.steps)}")
    return PlanChange(with_states(plan, [(step, state)], seq), None)


def update_plan(
    connection: Connection, place: Place, asked: UpdatePlan, note: Callable[[str], int]
) -> PlanAnswer:
    """Do it; ``note`` stores a message with these words and returns its seq.

    The lane must be locked. Words of a plan are always a message's, and are erased with it (M25).
    """
    seq = last_seq(connection, place.agent_id)
    change = change_plan(connection, place, asked, seq)
    if change.said is not None:
        change = change_plan(connection, place, asked, note(change.said))
    save_plan(connection, place.agent_id, change.plan)
    return PlanAnswer.of(change.plan, place.session_id)
