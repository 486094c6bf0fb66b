"""Texts are pinned and taken down (R7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memci.domain.message import Message
from memci.domain.pages.permission import Actor
from memci.domain.pages.pin import Pin, PinKind
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules
from memci.errors import NotFoundError, RefusedError, TooLargeError
from memci.storage.pins import save_pins
from memci.storage.session import Connection


@dataclass
class Pinning:
    """The pins of a window that is worked on; nothing is written before ``save``."""

    rendering: Rendering
    rules: PageRules
    every: Sequence[Pin]  # other users' too
    last: int
    _added: dict[int, Pin] = field(default_factory=dict)
    _taken_down: set[int] = field(default_factory=set)

    def add(self, kind: PinKind, by: Actor, said: str | Message) -> Pin:
        """Pin a text; raises ``RefusedError`` when there are too many, or they are too long.

        Who speaks with a user pins for this user, and a developer for all, unless it is a message.
        """
        pins = self.rendering.pins
        if len(pins) >= self.rules.max_pins:
            raise RefusedError(
                f"no more texts than {len(pins)} can be pinned: unpin takes one down"
            )
        number, now = self.last + 1, datetime.now(UTC)
        user = self.rendering.tree.viewer.user_id if by is Actor.AGENT else None
        if isinstance(said, str):
            pin = Pin(number, kind, said, by.value, now, user_id=user)
        else:
            pin = Pin(number, kind, said.text, by.value, now, said.seq, user or said.user_id)
        self.rendering.pin((*pins, pin))
        most = self.rules.pins_max_tokens
        takes = self.rendering.pin_tokens
        if takes > most:
            self.rendering.pin(pins)
            raise TooLargeError(
                f"with it all pinned texts would take {takes} tokens, and"
                f" {most} is the most: pin something shorter, or take something down with unpin",
                field="text" if pin.message_seq is None else "message",
            )
        self.last += 1
        self._added[pin.number] = pin
        return pin

    def take_down(self, number: int, by: Actor) -> None:
        """Unpin; raises ``RefusedError`` for what the developer pinned, if an agent asks."""
        known = self.rendering.pins if by is Actor.AGENT else [*self.every, *self._added.values()]
        pin = next((each for each in known if each.number == number), None)
        if pin is None:
            raise NotFoundError(f"nothing is pinned as {number}")
        if by is Actor.AGENT and pin.by != by:
            raise RefusedError(f"pin {number} was set by the developer, and stays")
        self.rendering.pin(each for each in self.rendering.pins if each.number != number)
        self._taken_down.add(number)

    def save(self, connection: Connection, agent_id: str) -> None:
        """Write what has changed. The tree must be locked."""
        save_pins(connection, agent_id, self._added.values(), self._taken_down)
