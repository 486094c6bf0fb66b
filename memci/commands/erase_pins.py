"""Pinned texts that hold all words of a query, and what is shown of them first (M25).

A text is pinned by who works with the agent or by the agent itself: no message says what it says. A
message that is pinned goes with the message.
"""

from __future__ import annotations

from collections.abc import Collection

from memci.commands.erase_words import Words
from memci.domain.pages.pin import Pin
from memci.shapes.erasure import CondemnedPin
from memci.storage.erasure.gone import snapshot_of
from memci.storage.pins import read_pins
from memci.storage.session import Database

_EXCERPT = 240


def find_pins(database: Database, agent_id: str, words: Words, *, most: int) -> list[int]:
    """Return the numbers of the newest pinned texts that hold all of these words, at most ``most``.

    Raises ``NotFoundError`` for no agent.
    """
    found = [
        each.number
        for each in reversed(_pinned(database, agent_id))
        if each.message_seq is None and words.are_in(each.text)
    ]
    return found[:most]


def shown_pins(
    database: Database, agent_id: str, numbers: Collection[int], words: Words | None
) -> list[CondemnedPin]:
    """Return what is to be read of pinned texts before they go."""
    if not numbers:
        return []
    return [
        _shown(each, words) for each in _pinned(database, agent_id) if each.number in set(numbers)
    ]


def _pinned(database: Database, agent_id: str) -> list[Pin]:
    with snapshot_of(database, agent_id) as connection:
        return read_pins(connection, agent_id).pins


def _shown(pin: Pin, words: Words | None) -> CondemnedPin:
    text = pin.text
    excerpt = " ".join(text.split())[:_EXCERPT] if words is None else words.excerpt(text, _EXCERPT)
    return CondemnedPin(pin=pin.number, excerpt=excerpt)
