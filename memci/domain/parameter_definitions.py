"""Declares parameters that an operator sets for all agents, or an API call for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any, Self, TypeVar

from memci.errors import InvalidInputError

# The largest integer of PostgreSQL.
MOST_WHOLE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Range:
    """Lowest and highest value of a number."""

    low: float
    high: float = inf
    is_open: bool = False  # whether the ends themselves are not allowed

    def __contains__(self, value: float) -> bool:
        """Return True if the value is inside."""
        if self.is_open:
            return self.low < value < self.high
        return self.low <= value <= self.high

    def __str__(self) -> str:
        """Return an error text that names both ends."""
        low, high = f"{self.low:g}", f"{self.high:.12g}"
        if self.is_open:
            return f"expected a number above {low}" + (f" and below {high}" * (self.high < inf))
        if self.high == inf:
            return f"expected a number of {low} or more"
        return f"expected a number between {low} and {high}"


@dataclass(frozen=True, slots=True)
class Setting:
    """One configurable parameter."""

    default: bool | float | str
    description: str
    limits: Range | None = None  # of a number
    choices: tuple[str, ...] = ()  # of a text
    words: tuple[str, ...] = ()  # of a text: those that may be in it, with commas between

    def check(self, name: str, value: object) -> None:
        """Raise ``InvalidInputError`` that names the parameter if the value is not allowed."""
        if complaint := self._error_text(value):
            raise InvalidInputError(complaint, field=name)

    def _error_text(self, value: object) -> str | None:
        if self.choices:
            known = ", ".join(self.choices)
            return None if value in self.choices else f"expected one of {known}"
        if self.words:
            known = ", ".join(self.words)
            fits = isinstance(value, str) and (not value or {*value.split(",")} <= {*self.words})
            return None if fits else f"expected some of {known}, with commas between"
        if self.limits is None:
            return None if isinstance(value, bool) else "expected true or false"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return "expected a number"
        if isinstance(self.default, int) and not isinstance(value, int):
            return "expected a whole number"
        return None if value in self.limits else str(self.limits)


T = TypeVar("T", bound=bool | float | str)


def setting(
    default: T,
    description: str,
    limits: Range | None = None,
    choices: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
) -> T:
    """Return a dataclass field for a configurable parameter; other fields are constants.

    Tests may give constants to the constructor; nothing else changes them.
    """
    if limits is not None and isinstance(default, int):
        limits = Range(limits.low, min(limits.high, MOST_WHOLE), limits.is_open)
    declared = Setting(default, description, limits, choices, words)
    return field(default=default, metadata={"setting": declared})


@dataclass(frozen=True, slots=True)
class Parameters:
    """Base of parameters that are set together."""

    def __post_init__(self) -> None:
        """Check every value against its range; ``InvalidInputError`` names the field."""
        for name, each in settings_of(self).items():
            each.check(name, getattr(self, name))

    def with_values(self, values: Mapping[str, object]) -> Self:
        """Return a copy with some values replaced; an unknown name is an error."""
        known = settings_of(self)
        for name in values:
            if name not in known:
                raise InvalidInputError(
                    f"unknown parameter; known are {', '.join(sorted(known))}", field=name
                )
        changed: dict[str, Any] = dict(values)
        return replace(self, **changed)


P = TypeVar("P", bound=Parameters)


def settings_of(parameters: Parameters | type[Parameters]) -> dict[str, Setting]:
    """Return the configurable parameters by name."""
    declared = {each.name: each.metadata.get("setting") for each in fields(parameters)}
    return {name: each for name, each in declared.items() if each is not None}


def values_of(parameters: Parameters) -> dict[str, Any]:
    """Return the value of each configurable parameter."""
    return {name: getattr(parameters, name) for name in settings_of(parameters)}
