"""What is always in a list (R14): system text, pins, plan and the user's message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memci.domain.context.budget import LIST_OVERHEAD, Count
from memci.domain.context.candidate import Candidate, Source, message_candidate
from memci.domain.context.materials import Materials
from memci.domain.context.parts import Item, Part, Section, part_of, part_tokens
from memci.domain.context.plan_text import steps_listed
from memci.domain.context.quoted import wholly_pinned
from memci.domain.message import Message, Role
from memci.domain.pages.labels import labels_of
from memci.domain.pages.pin import Pin, pin_pieces
from memci.errors import BudgetTooSmallError


@dataclass(frozen=True, slots=True)
class Standing:
    """The parts that must be in, each by its name; ``asked``: the query, if it is stored."""

    system: tuple[Part, ...]
    pins: tuple[Part, ...]
    plan: tuple[Part, ...]
    query: tuple[Part, ...]
    held: tuple[Candidate, ...]

    @classmethod
    def of(cls, materials: Materials, asked: tuple[Message, ...], count: Count) -> Standing:
        """Write them; ``asked``: the message that is the query, if it is stored."""
        seqs = tuple(each.seq for each in asked)
        return cls(
            system=_part(Section.SYSTEM, Role.SYSTEM, materials.system, count),
            pins=_pinned(materials, count),
            plan=_planned(materials, count),
            query=_part(Section.QUERY, Role.USER, materials.query, count, seqs),
            held=(
                *map(message_candidate, (*asked, *wholly_pinned(materials.pins))),
                *_as_planned_before(materials),
            ),
        )

    def room(self, budget: int) -> int:
        """Return the tokens that it leaves; raises ``BudgetTooSmallError`` if it does not fit."""
        needs = {name: part_tokens(parts) for name, parts in self._named().items()}
        total = sum(needs.values()) + LIST_OVERHEAD
        if total > budget:
            raise _too_small(budget, needs | {"list": LIST_OVERHEAD}, total)
        return budget - total

    def _named(self) -> dict[str, tuple[Part, ...]]:
        """System text and query by their names, and those of the others that there are."""
        others = {"pins": self.pins, "plan": self.plan}
        there = {name: parts for name, parts in others.items() if parts}
        return {"system": self.system, **there, "query": self.query}


def _part(
    section: Section, role: Role, text: str | None, count: Count, seqs: tuple[int, ...] = ()
) -> tuple[Part, ...]:
    return () if text is None else (part_of(role, [Item(section, text, 0, seqs)], count),)


def _planned(materials: Materials, count: Count) -> tuple[Part, ...]:
    if not materials.plan:
        return ()
    origin = materials.origins.get(Section.PLAN, {})
    return (part_of(Role.SYSTEM, [Item(Section.PLAN, materials.plan, 0, origin=origin)], count),)


def _as_planned_before(materials: Materials) -> Iterator[Candidate]:
    """Yield what was noted of the plan when it was made: the list says how far it has come."""
    steps = steps_listed(materials.plan or "")
    for each in materials.ranked if steps else ():
        noted = each.candidate.source is Source.CHAT and steps_listed(each.candidate.text)
        if noted and noted <= steps:
            yield each.candidate


def _pinned(materials: Materials, count: Count) -> tuple[Part, ...]:
    """Return what is pinned as one message, an item for each pin."""
    pieces = pin_pieces(materials.pins, labels_of(materials.language))
    items = [
        Item(Section.PINS, piece, 0, _said_in(pin), origin={"pin": pin.number})
        for pin, piece in zip(materials.pins, pieces, strict=True)
    ]
    return (part_of(Role.SYSTEM, items, count),) if items else ()


def _said_in(pin: Pin) -> tuple[int, ...]:
    return () if pin.message_seq is None else (pin.message_seq,)


def _too_small(budget: int, needs: dict[str, int], total: int) -> BudgetTooSmallError:
    named = ", ".join(f"{name} {tokens}" for name, tokens in needs.items() if tokens)
    return BudgetTooSmallError(
        f"budget_tokens is {budget}, but what must be in takes {total} ({named}): "
        f"ask for at least {total}, or shorten it",
        needs=needs,
    )
