"""Interactions: a user message and what answers it, as a chat API accepts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memci.domain.message import Message, Role

# Messages that stay together: one alone, or a tool call and all its results.
Unit: TypeAlias = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Interaction:
    """One exchange, in order. Tool calls without all their results are no part of it."""

    units: tuple[Unit, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """Its messages, in order."""
        return tuple(message for unit in self.units for message in unit)

    @property
    def answered(self) -> bool:
        """Whether an assistant has had the last word."""
        return bool(self.units) and self.units[-1][-1].role is Role.ASSISTANT

    def without_tools(self) -> Interaction:
        """Return what is left of it when tool calls and their results are left out."""
        return Interaction(tuple(unit for unit in self.units if not unit[0].tool_calls))

    def without(self, seq: int) -> Interaction:
        """Return it without the unit of one message."""
        return Interaction(
            tuple(unit for unit in self.units if all(each.seq != seq for each in unit))
        )


def interactions(messages: Iterable[Message]) -> list[Interaction]:
    """Cut messages (ascending seq) into interactions, oldest first.

    Each user message begins one; so does what was said before the first.
    """
    cut: list[list[Message]] = []
    for message in messages:
        if message.role is Role.USER or not cut:
            cut.append([])
        cut[-1].append(message)
    whole = (Interaction(_units(each)) for each in cut)
    return [each for each in whole if each.units]


def _units(messages: Sequence[Message]) -> tuple[Unit, ...]:
    """Group calls with their results; chat APIs refuse one without the other."""
    results = {
        each.tool_call_id: each
        for each in messages
        if each.role is Role.TOOL and each.tool_call_id is not None
    }
    units: list[Unit] = []
    for message in messages:
        if message.role is Role.TOOL:
            continue
        called = [str(call.get("id")) for call in message.tool_calls]
        if all(call in results for call in called):
            units.append((message, *sorted((results[call] for call in called), key=_seq)))
    return tuple(units)


def _seq(message: Message) -> int:
    return message.seq
