"""Values that cross between sandboxed code and us: what JSON knows, and not too much of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import TypeAlias

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"

DEEPEST = 32
_MOST_INT = 2**63 - 1
# What one value costs beside its own text: brackets, quotes, commas.
_OVERHEAD = 2


class NotPlainError(Exception):
    """A value that cannot cross: the message names its place, and says what to do."""


def plain(value: object, limit: int, name: str = "the value") -> Plain:
    """Return a value with tuples as lists, at most ``limit`` characters long as JSON.

    What is used twice within it counts twice, so that a small graph cannot become a large tree.
    Raises ``NotPlainError``.
    """
    return _Walk(limit, name).copy(value, name, 0)


@dataclass
class _Walk:
    limit: int
    name: str
    used: int = 0

    def copy(self, value: object, place: str, depth: int) -> Plain:
        if depth > DEEPEST:
            raise NotPlainError(f"{self.name} is nested more than {DEEPEST} levels deep")
        if isinstance(value, (list, tuple)):
            self._spend(_OVERHEAD)
            return self._list(value, place, depth)
        if isinstance(value, dict):
            self._spend(_OVERHEAD)
            return self._dict(value, place, depth)
        return self._scalar(value, place)

    def _list(self, value: Iterable[object], place: str, depth: int) -> Plain:
        return [
            self.copy(each, f"{place}[{number}]", depth + 1) for number, each in enumerate(value)
        ]

    def _dict(self, value: dict[object, object], place: str, depth: int) -> Plain:
        made: dict[str, Plain] = {}
        for key, each in value.items():
            name = self._key(key, place)
            made[name] = self.copy(each, f"{place}[{name[:40]!r}]", depth + 1)
        return made

    def _key(self, key: object, place: str) -> str:
        if isinstance(key, int) and not isinstance(key, bool):
            key = str(self._whole(key, place))
        if not isinstance(key, str):
            raise NotPlainError(f"the keys of {place} must be text, not {_kind(key)}: use str(key)")
        self._spend(len(key) + _OVERHEAD)
        return key

    def _scalar(self, value: object, place: str) -> Plain:
        if value is None or isinstance(value, bool):
            self._spend(_OVERHEAD)
            return value
        if isinstance(value, str):
            self._spend(len(value) + _OVERHEAD)
            return value
        if isinstance(value, int):
            self._spend(_OVERHEAD)
            return self._whole(value, place)
        if isinstance(value, float):
            self._spend(_OVERHEAD)
            if not math.isfinite(value):
                raise NotPlainError(f"{place} is {value}, which is no number of JSON")
            return value
        raise NotPlainError(f"{place} is {_kind(value)}, which is no value of JSON: {_way(value)}")

    def _whole(self, value: int, place: str) -> int:
        if abs(value) > _MOST_INT:
            raise NotPlainError(f"{place} is a whole number above 2**63: use str() or float()")
        return value

    def _spend(self, characters: int) -> None:
        self.used += characters
        if self.used > self.limit:
            raise NotPlainError(
                f"{self.name} is longer than {self.limit} characters: pass on less of it"
            )


def _kind(value: object) -> str:
    name = getattr(value, "name", None)
    kind = name if type(value).__module__ == "pydantic_monty" and isinstance(name, str) else None
    return f"of type {(kind or type(value).__name__)[:60]}"


def _way(value: object) -> str:
    if isinstance(value, (set, frozenset)):
        return "use sorted(…) or list(…)"
    if isinstance(value, bytes):
        return "use .decode()"
    if isinstance(value, (date, time)):
        return "use .isoformat()"
    if isinstance(value, timedelta):
        return "use .total_seconds()"
    return "use text, numbers, True, False, None, lists and dicts"
