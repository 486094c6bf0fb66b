"""The outcome of sandboxed code: JSON values, faults, and our answer in TOML (P15)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 32
_MOST_INT = 2**63 - 1
# What one value costs beside its own text: brackets, quotes, commas.
_OVERHEAD = 2


class NotJsonError(Exception):
    """A value that cannot cross: the message names its place, and says what to do."""


def to_json_value(value: object, limit: int, name: str = "the value") -> JsonValue:
    """Return a value with tuples as lists, at most ``limit`` characters long as JSON.

    What is used twice within it counts twice, so that a small graph cannot become a large tree.
    Raises ``NotJsonError``.
    """
    return _Walk(limit, name).copy(value, name, 0)


@dataclass
class _Walk:
    limit: int
    name: str
    used: int = 0

    def copy(self, value: object, place: str, depth: int) -> JsonValue:
        if depth > MAX_DEPTH:
            raise NotJsonError(f"{self.name} is nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, (list, tuple)):
            self._spend(_OVERHEAD)
            return self._list(value, place, depth)
        if isinstance(value, dict):
            self._spend(_OVERHEAD)
            return self._dict(value, place, depth)
        return self._scalar(value, place)

    def _list(self, value: Iterable[object], place: str, depth: int) -> JsonValue:
        return [
            self.copy(each, f"{place}[{number}]", depth + 1) for number, each in enumerate(value)
        ]

    def _dict(self, value: dict[object, object], place: str, depth: int) -> JsonValue:
        made: dict[str, JsonValue] = {}
        for key, each in value.items():
            name = self._key(key, place)
            made[name] = self.copy(each, f"{place}[{name[:40]!r}]", depth + 1)
        return made

    def _key(self, key: object, place: str) -> str:
        if isinstance(key, int) and not isinstance(key, bool):
            key = str(self._whole(key, place))
        if not isinstance(key, str):
            raise NotJsonError(f"the keys of {place} must be text, not {_kind(key)}: use str(key)")
        self._spend(len(key) + _OVERHEAD)
        return key

    def _scalar(self, value: object, place: str) -> JsonValue:
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
                raise NotJsonError(f"{place} is {value}, which is no number of JSON")
            return value
        raise NotJsonError(f"{place} is {_kind(value)}, which is no value of JSON: {_way(value)}")

    def _whole(self, value: int, place: str) -> int:
        if abs(value) > _MOST_INT:
            raise NotJsonError(f"{place} is a whole number above 2**63: use str() or float()")
        return value

    def _spend(self, characters: int) -> None:
        self.used += characters
        if self.used > self.limit:
            raise NotJsonError(
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


if TYPE_CHECKING:
    from pydantic_monty import Frame, MontyRuntimeError, MontySyntaxError

LONGEST_MESSAGE = 1_000
LONGEST_LINE = 120
# What is at hand is fed first, then the code.
ITS_OWN = "<python-input-1>"
_PRELUDE = "<python-input-0>"
_ADVICE = {
    "SyntaxError": "It is not valid Python here: write it more simply.",
    "RecursionError": "Use a loop instead of a function that calls itself.",
    "MemoryError": "Work on less at a time.",
    "TimeoutError": "Do less in one call.",
    "AttributeError": "Not all of Python is here: do it with simpler means.",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why code failed: the class of the error, where, and what to do."""

    kind: str
    message: str
    line: int | None = None
    source: str | None = None
    advice: str | None = None

    def __str__(self) -> str:
        place = f" in line {self.line}" if self.line else ""
        shown = f" ({self.source.strip()[:LONGEST_LINE]})" if self.source else ""
        message = self.message[:LONGEST_MESSAGE].rstrip(". \n")
        end = "" if message.endswith("?") else "."
        advice = f" {self.advice}" if self.advice else ""
        return f"{self.kind}{place}{shown}: {message}{end}{advice}"

    def at(self, line: int | None, code: str) -> Fault:
        """Return it with its place in the code, unless it has one."""
        if line is None or self.line is not None:
            return self
        return replace(self, line=line, source=_source(line, code))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What code left in ``__result__`` (None: nothing), what it printed, or why it failed."""

    result: JsonValue = None
    printed: str = ""
    calls: int = 0
    fault: Fault | None = None


class StopError(Exception):
    """Ends a run from our side: code cannot catch it."""

    def __init__(self, fault: Fault) -> None:
        """Take what to say."""
        super().__init__(str(fault))
        self.fault = fault


def fault_of(error: MontyRuntimeError | MontySyntaxError, code: str) -> Fault:
    """Return the fault for an error of the interpreter."""
    kind, message = _kind_of_error(error), error.display("msg").strip()
    line = _line(error.traceback())
    if "not yet support" in message or "cannot suspend" in message:
        kind, message = "NotImplementedError", _unsupported(message)
    return Fault(kind, message or "it says no more", line, _source(line, code), _ADVICE.get(kind))


def _kind_of_error(error: MontyRuntimeError | MontySyntaxError) -> str:
    """Return the name of the class of an error; the code may have made that itself."""
    name = type(error).__name__
    if name == "MontySyntaxError":
        return "SyntaxError"
    return error.display("type-msg").partition(":")[0]


def _unsupported(message: str) -> str:
    if "cannot suspend" in message:
        return (
            "functions that you were given cannot be called by sorted, map, filter and the like: "
            "call them in a loop of your own"
        )
    what = message.partition("support")[2].strip() or "this"
    return f"this Python does not have {what}: do it with simpler means"


def _source(line: int | None, code: str) -> str | None:
    lines = code.split("\n")
    return lines[line - 1] if line and line <= len(lines) else None


def _line(frames: list[Frame]) -> int | None:
    own = [frame.line for frame in frames if frame.filename != _PRELUDE]
    return own[-1] if own else None


_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Control characters but tab and newline, and halves of surrogate pairs.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Of a run of quotes that could be taken for the end of a text.
_CLOSING = re.compile(r'"(?=""|\Z)')
_QUOTE = r'\\"'
_SHORT = {"\b": "\\b", "\f": "\\f", "\r": "\\r"}


def to_toml(document: Mapping[str, Any]) -> str:
    """Write a document: its plain values first, then each mapping in it as a table."""
    lines = _pairs(document)
    for name, value in document.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(name)}]", *_pairs(value), *_inner(value)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{_key(name)} = {_long(value)}"
        for name, value in table.items()
        if value is not None and not isinstance(value, Mapping)
    ]


def _inner(table: Mapping[str, Any]) -> list[str]:
    """Write the mappings within a table, which stand in one line each."""
    return [
        f"{_key(inner)} = {_value(value)}"
        for inner, value in table.items()
        if isinstance(value, Mapping)
    ]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _short(name)


def _long(value: object) -> str:
    """Write a value that may take several lines."""
    if isinstance(value, str) and "\n" in value:
        return f'"""\n{_CLOSING.sub(_QUOTE, _escaped(value))}"""'
    return _value(value)


def _value(value: object) -> str:
    if value is None:
        return "{}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, Mapping):
        kept = (f"{_key(name)} = {_value(each)}" for name, each in value.items())
        shown = [pair for pair, each in zip(kept, value.values(), strict=True) if each is not None]
        return "{ " + ", ".join(shown) + " }" if shown else "{}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)


def _short(text: str) -> str:
    quoted = _escaped(text).replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{quoted}"'


def _escaped(text: str) -> str:
    whole = _SURROGATE.sub("\ufffd", text).replace("\\", "\\\\")
    return _UNPRINTABLE.sub(lambda found: _code(found.group()), whole)


def _code(character: str) -> str:
    return _SHORT.get(character) or f"\\u{ord(character):04X}"
