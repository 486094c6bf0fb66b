"""Texts are pinned and taken down (R7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memci.domain.message import Message
from memci.domain.pages.permission import Actor
from memci.domain.pages.pin import Maker, Pin, PinKind
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
    _given_way: set[int] = field(default_factory=set)

    def add(self, kind: PinKind, by: Actor, said: str | Message) -> Pin:
        """Pin a text; raises ``RefusedError`` when there are too many, or they are too long.

        Who speaks with a user pins for this user, and a developer for all, unless it is a message.
        What the detector has pinned gives way to it, the oldest first.
        Nobody who sees it is shown more pins than the rules allow.
        """
        pin = self._made(kind, by, said)
        for beside in list(self._windows_of(pin)):
            self._check_room(self._with_room(beside, pin), pin)
        if self._is_seen(pin):
            self.rendering.pin((*self.rendering.pins, pin))
        self.last += 1
        self._added[pin.number] = pin
        return pin

    def take_down(self, number: int, by: Actor) -> None:
        """Unpin; raises ``RefusedError`` for what the developer pinned, if an agent asks."""
        known = self.rendering.pins if by is Actor.AGENT else [*self.every, *self._added.values()]
        pin = next((each for each in known if each.number == number), None)
        if pin is None:
            raise NotFoundError(f"nothing is pinned as {number}")
        if by is Actor.AGENT and pin.by == Maker.DEVELOPER:
            raise RefusedError(f"pin {number} was set by the developer, and stays")
        self.rendering.pin(each for each in self.rendering.pins if each.number != number)
        self._taken_down.add(number)

    def save(self, connection: Connection, agent_id: str) -> None:
        """Write what has changed. The tree must be locked."""
        save_pins(connection, agent_id, self._added.values(), self._taken_down, self._given_way)

    def _made(self, kind: PinKind, by: Actor, said: str | Message) -> Pin:
        number, now = self.last + 1, datetime.now(UTC)
        user = self.rendering.tree.viewer.user_id if by is Actor.AGENT else None
        if isinstance(said, str):
            return Pin(number, kind, said, by.value, now, user_id=user)
        return Pin(number, kind, said.text, by.value, now, said.seq, user or said.user_id)

    def _windows_of(self, pin: Pin) -> Iterator[Sequence[Pin]]:
        """Yield what is pinned beside it in this window, and then for each user who will see it."""
        if self._is_seen(pin):
            yield self.rendering.pins
        every = (*self.every, *self._added.values())
        gone = self._taken_down | self._given_way
        there = [each for each in every if each.number not in gone]
        users = [pin.user_id] if pin.user_id else [each.user_id for each in there if each.user_id]
        for user in dict.fromkeys(users):
            yield [each for each in there if each.user_id in {None, user}]

    def _is_seen(self, pin: Pin) -> bool:
        return self.rendering.tree.viewer.sees(pin)

    def _with_room(self, beside: Sequence[Pin], pin: Pin) -> Sequence[Pin]:
        """Return what is pinned beside it once findings have given way, as far as need be."""
        left = [each for each in beside if each.number not in self._given_way]
        for old in [each for each in left if each.by == Maker.DETECTOR]:
            takes = self.rendering.tokens_of_pins((*left, pin))
            if len(left) < self.rules.max_pins and takes <= self.rules.pins_max_tokens:
                break
            left.remove(old)
            self._given_way.add(old.number)
            self.rendering.pin(each for each in self.rendering.pins if each is not old)
        return left

    def _check_room(self, beside: Sequence[Pin], pin: Pin) -> None:
        if len(beside) >= self.rules.max_pins:
            raise RefusedError(
                f"no more texts than {len(beside)} can be pinned: unpin takes one down"
            )
        most = self.rules.pins_max_tokens
        takes = self.rendering.tokens_of_pins((*beside, pin))
        if takes > most:
            raise TooLargeError(
                f"with it all pinned texts would take {takes} tokens, and"
                f" {most} is the most: pin something shorter, or take something down with unpin",
                field="text" if pin.message_seq is None else "message",
            )
