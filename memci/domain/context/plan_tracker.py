"""The plan tracker: what a message does to its session's plan (R7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memci.domain.context.key_messages import Cutter, words_of
from memci.domain.context.plan import (
    MOST_STEPS,
    Item,
    Plan,
    Step,
    StepState,
    made_of,
    with_states,
)
from memci.domain.context.plan_calls import called_plan
from memci.domain.context.plan_lists import Listing, listing_in
from memci.domain.context.plan_progress import Progress, progress_in
from memci.domain.message import Message, Role

_SPEAKERS = frozenset({Role.USER, Role.ASSISTANT})


@dataclass(frozen=True, slots=True)
class PlanSigns:
    """What a message says of plans, whatever plan there is."""

    listing: Listing | None = None
    progress: Sequence[Progress] = ()

    def __bool__(self) -> bool:
        """Tell whether it can have to do with a plan."""
        return self.listing is not None or bool(self.progress)


def plan_signs(message: Message, cut: Cutter) -> PlanSigns:
    """Return what a message says of plans; tools and systems say nothing of them, nor do notes."""
    if message.role not in _SPEAKERS or message.is_note:
        return PlanSigns()
    if called := called_plan(message.tool_calls):
        return PlanSigns(Listing(called, is_plan=True))
    if not message.content:
        return PlanSigns()
    listing = listing_in(message.content)
    # A list that is a plan says all; what is said around it speaks of it as it then is.
    told = [] if listing and listing.is_plan else progress_in(message.content, cut)
    return PlanSigns(listing, told)


def follow(
    plan: Plan | None, message: Message, signs: PlanSigns, user_id: str | None
) -> Plan | None:
    """Return the session's plan after a message; the very same when nothing has changed.

    ``user_id``: whose session it is.
    """
    listing = signs.listing
    if listing is not None and (listing.is_plan or is_retold(plan, listing.items)):
        return listed(plan, listing.items, message.seq, message.session_id, user_id)
    if plan is None or not signs.progress:
        return plan
    changed = plan
    for each in signs.progress:
        changed = with_states(changed, _states(changed, each), message.seq)
    return _changed(plan, changed)


def listed(
    plan: Plan | None, items: Sequence[Item], seq: int, session_id: str | None, user_id: str | None
) -> Plan:
    """Return the plan after it was listed by the message of this seq, or another in its place."""
    if plan is not None and is_retold(plan, items):
        return _changed(plan, _updated(plan, items, seq))
    return made_of(items, seq, session_id, user_id)


def is_retold(plan: Plan | None, items: Sequence[Item]) -> bool:
    """Tell whether a list is a plan as it is now: half of the items, or of its steps, are in it."""
    known = {words_of(each.text) for each in plan.steps} if plan else set()
    shared = sum(words_of(each.text) in known for each in items)
    return shared > 0 and 2 * shared >= min(len(items), len(known))


def _changed(before: Plan, after: Plan) -> Plan:
    return before if after == before else after


def _updated(plan: Plan, items: Sequence[Item], seq: int) -> Plan:
    """Return a plan as it is listed anew: what is over stays, what waits and is missing goes."""
    known = {words_of(each.text): each for each in plan.steps}
    listed = [words_of(each.text) for each in items]
    left = [each for each in plan.steps if words_of(each.text) not in listed]
    steps = [
        *(each for each in left if each.state.is_over),
        *(known.get(words_of(each.text), Step(each.text, seq)) for each in items),
        *(each for each in left if not each.state.is_over),
    ][:MOST_STEPS]
    over = sum(each.state.is_over for each in left)
    told = {over + place: each.state for place, each in enumerate(items, 1) if each.state}
    dropped = dict.fromkeys(range(over + len(items) + 1, len(steps) + 1), StepState.DROPPED)
    return with_states(replace(plan, steps=tuple(steps)), {**told, **dropped}.items(), seq)


def _states(plan: Plan, told: Progress) -> list[tuple[int, StepState]]:
    states = [(place, each.state) for place, each in enumerate(plan.steps, 1)]
    if told.position is None:
        return [(place, told.state) for place, state in states if not state.is_over]
    if told.position == 0:
        return [(place, told.state) for place, state in states if state is StepState.ACTIVE]
    here = [(told.position, told.state)]
    if told.state is StepState.ACTIVE:
        # Who goes on to a step has left those before it that were being worked on.
        before = states[: told.position - 1]
        left = [place for place, state in before if state is StepState.ACTIVE]
        return [*((place, StepState.DONE) for place in left), *here]
    return here
