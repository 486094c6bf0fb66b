"""Texts are pinned on a bench and taken down, and the window is kept to its limits (R7, P13)."""

from __future__ import annotations

from collections.abc import Callable

from memci.commands.pages.bench import Bench
from memci.commands.tools.place import place_in
from memci.domain.message import Message
from memci.domain.pages.permission import Actor
from memci.errors import NotFoundError
from memci.shapes.pins import Pin, PinChange, Unpin
from memci.storage.pins import said_as


def pin(bench: Bench, asked: Pin) -> PinChange:
    """Pin a text; raises ``NotFoundError`` for no such message, and as ``Pinning.add``."""
    said = _said(bench, asked)
    return _pinned(bench, lambda: bench.pinning.add(asked.kind, bench.actor, said).number)


def unpin(bench: Bench, asked: Unpin) -> PinChange:
    """Take a text down; raises as ``Pinning.take_down``."""

    def take_down() -> int:
        bench.pinning.take_down(asked.pin, bench.actor)
        return asked.pin

    return _pinned(bench, take_down)


def _said(bench: Bench, asked: Pin) -> str | Message:
    if asked.message is None:
        return asked.text or ""
    connection, agent_id = bench.connection, bench.agent_id
    if bench.actor is Actor.AGENT:
        session = bench.desk.rendering.session_id
        place_in(connection, agent_id, session).seqs(connection, [asked.message])
    said = said_as(connection, agent_id, asked.message)
    if said is None or not said.text.strip():
        raise NotFoundError("there is no message of this id that says something")
    return said


def _pinned(bench: Bench, act: Callable[[], int]) -> PinChange:
    before = bench.tokens
    number, _ = bench.do(act)
    bench.desk.look_after()
    return PinChange(pin=number, **bench.effect(before))
