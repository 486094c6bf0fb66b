"""Health of a server."""

from __future__ import annotations

from memci.shapes.base import Answer


class AliveAnswer(Answer):
    """The process answers."""

    alive: bool


class ReadyAnswer(Answer):
    """Every part that is needed answers."""

    ready: bool
    checks: dict[str, str]
