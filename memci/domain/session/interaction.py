"""Interactions: a user message and its answers, as a chat API accepts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memci.message import Message, Role

# Messages that stay together: one alone, or a tool call and all its results.
Unit: TypeAlias = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Interaction:
    """One exchange, in order, without tool calls that lack a result."""

    units: tuple[Unit, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """Its messages, in order."""
        return tuple(message for unit in self.units for message in unit)

    @property
    def answered(self) -> bool:
        """True if the last message is an assistant's."""
        return bool(self.units) and self.units[-1][-1].role is Role.ASSISTANT

    def without_tools(self) -> Interaction:
        """Return it without tool calls and their results."""
        return Interaction(tuple(unit for unit in self.units if not unit[0].tool_calls))


def interactions(messages: Iterable[Message]) -> list[Interaction]:
    """Cut messages (ascending seq) into interactions, oldest first.

    Each user message begins one; so do the messages before the first. Notes that an agent made for
    its memory belong to none.
    """
    whole = (Interaction(units_of(each)[0]) for each in cut_at_users(messages))
    return [each for each in whole if each.units]


def cut_at_users(messages: Iterable[Message]) -> list[list[Message]]:
    """Cut messages (ascending seq) at those of users; notes and withheld messages are left out."""
    cut: list[list[Message]] = []
    for message in messages:
        if message.is_note or message.is_withheld:
            continue
        if message.role is Role.USER or not cut:
            cut.append([])
        cut[-1].append(message)
    return cut


def units_of(messages: Sequence[Message]) -> tuple[tuple[Unit, ...], tuple[Message, ...]]:
    """Return units with each result behind its call, and the remaining messages.

    Chat APIs refuse a call or a result alone. A result answers the latest call of its id before it;
    ids may repeat later. Messages without words are in neither list: several chat APIs refuse them.
    """
    messages = [each for each in messages if not _is_blank(each)]
    units: list[list[Message]] = []
    open_calls: dict[str, list[Message]] = {}
    for message in messages:
        if message.role is Role.TOOL:
            called = open_calls.pop(str(message.tool_call_id), None)
            if called is not None:
                called.append(message)
        else:
            units.append([message])
            open_calls |= {str(call.get("id")): units[-1] for call in message.tool_calls}
    whole = tuple(tuple(unit) for unit in units if len(unit) == 1 + len(unit[0].tool_calls))
    placed = {message.seq for unit in whole for message in unit}
    return whole, tuple(message for message in messages if message.seq not in placed)


def _is_blank(message: Message) -> bool:
    """Return True if a message has no words and no calls; a tool result may be empty."""
    return message.role is not Role.TOOL and not message.text.strip()
