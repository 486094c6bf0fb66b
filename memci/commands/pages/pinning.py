"""Texts are pinned and taken down (R7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

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
    last: int
    _added: dict[int, Pin] = field(default_factory=dict)
    _taken_down: set[int] = field(default_factory=set)

    def add(self, kind: PinKind, text: str, by: Actor, message_seq: int | None = None) -> Pin:
        """Pin a text; raises ``RefusedError`` when there are too many, or they are too long."""
        pins = self.rendering.pins
        if len(pins) >= self.rules.max_pins:
            raise RefusedError(
                f"{len(pins)} texts are pinned, and no more can be: take one down with unpin"
            )
        pin = Pin(self.last + 1, kind, text, by.value, datetime.now(UTC), message_seq)
        self.rendering.pin((*pins, pin))
        most = self.rules.pins_max_tokens
        takes = self.rendering.pin_tokens
        if takes > most:
            self.rendering.pin(pins)
            raise TooLargeError(
                f"with it all pinned texts would take {takes} tokens, and"
                f" {most} is the most: pin something shorter, or take something down with unpin",
                field="text" if message_seq is None else "message",
            )
        self.last += 1
        self._added[pin.number] = pin
        return pin

    def take_down(self, number: int, by: Actor) -> None:
        """Unpin; raises ``RefusedError`` for what the developer pinned, if an agent asks."""
        pin = next((each for each in self.rendering.pins if each.number == number), None)
        if pin is None:
            raise NotFoundError(f"nothing is pinned as {number}")
        if by is Actor.AGENT and pin.by != by:
            raise RefusedError(f"pin {number} was set by the developer, and stays")
        self.rendering.pin(each for each in self.rendering.pins if each.number != number)
        self._taken_down.add(number)

    def save(self, connection: Connection, agent_id: str) -> None:
        """Write what has changed. The tree must be locked."""
        save_pins(connection, agent_id, self._added.values(), self._taken_down)
