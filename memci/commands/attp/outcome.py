"""The outcome of sandboxed code: JSON values, faults, and our answer in TOML (P15)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pydantic_monty import MontyRuntimeError, MontySyntaxError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 32
_MOST_INT = 2**63 - 1
# Characters that each value needs beside its own text: brackets, quotes, commas.
_OVERHEAD = 2


class NotJsonError(Exception):
    """A value that is not JSON; the message names its place and a remedy."""


def to_json_value(value: object, limit: int, name: str = "the value") -> JsonValue:
    """Return a value with tuples as lists, at most ``limit`` characters long as JSON.

    A value that is used twice counts twice, so that a small graph cannot become a large tree.
    Raises ``NotJsonError``.
    """
    return _Copy(limit, name).of(value, name, 0)


@dataclass
class _Copy:
    limit: int
    name: str
    used: int = 0

    def of(self, value: object, place: str, depth: int) -> JsonValue:
        if depth > MAX_DEPTH:
            raise NotJsonError(f"{self.name} is nested more than {MAX_DEPTH} levels deep")
        self._add_size(value)
        match value:
            case None | bool() | str():
                return value
            case int():
                return _checked_int(value, place)
            case float() if not math.isfinite(value):
                raise NotJsonError(f"{place} is {value}, which is no number of JSON")
            case float():
                return value
            case list() | tuple():
                return [self.of(each, f"{place}[{n}]", depth + 1) for n, each in enumerate(value)]
            case dict():
                return {
                    (name := self._key(key, place)): self.of(
                        each, f"{place}[{name[:40]!r}]", depth + 1
                    )
                    for key, each in value.items()
                }
        raise NotJsonError(
            f"{place} is {_kind(value)}, which is no value of JSON: {_advice(value)}"
        )

    def _key(self, key: object, place: str) -> str:
        if isinstance(key, int) and not isinstance(key, bool):
            key = str(_checked_int(key, place))
        if not isinstance(key, str):
            raise NotJsonError(f"the keys of {place} must be text, not {_kind(key)}: use str(key)")
        self._add_size(key)
        return key

    def _add_size(self, value: object) -> None:
        self.used += _OVERHEAD + (len(value) if isinstance(value, str) else 0)
        if self.used > self.limit:
            raise NotJsonError(
                f"{self.name} is longer than {self.limit} characters: pass on less of it"
            )


def _checked_int(value: int, place: str) -> int:
    if abs(value) > _MOST_INT:
        raise NotJsonError(f"{place} is a whole number above 2**63: use str() or float()")
    return value


def _kind(value: object) -> str:
    name = getattr(value, "name", None)
    kind = name if type(value).__module__ == "pydantic_monty" and isinstance(name, str) else None
    return f"of type {(kind or type(value).__name__)[:60]}"


def _advice(value: object) -> str:
    match value:
        case set() | frozenset():
            return "use sorted(…) or list(…)"
        case bytes():
            return "use .decode()"
        case date() | time():
            return "use .isoformat()"
        case timedelta():
            return "use .total_seconds()"
        case _:
            return "use text, numbers, True, False, None, lists and dicts"


LONGEST_MESSAGE = 1_000
LONGEST_LINE = 120
# File names of the interpreter: the prelude is fed first, then the model's code.
_PRELUDE = "<python-input-0>"
MODEL_CODE = "<python-input-1>"
_ADVICE = {
    "SyntaxError": "It is not valid Python here: write it more simply.",
    "RecursionError": "Use a loop instead of a function that calls itself.",
    "MemoryError": "Work on less at a time.",
    "TimeoutError": "Do less in one call.",
    "AttributeError": "Not all of Python is here: do it with simpler means.",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why code failed: the error class, the place, and a hint."""

    kind: str
    message: str
    line: int | None = None
    source: str | None = None
    advice: str | None = None

    def __str__(self) -> str:
        place = f" in line {self.line}" if self.line else ""
        source = f" ({self.source.strip()[:LONGEST_LINE]})" if self.source else ""
        message = self.message[:LONGEST_MESSAGE].rstrip(". \n")
        end = "" if message.endswith("?") else "."
        advice = f" {self.advice}" if self.advice else ""
        return f"{self.kind}{place}{source}: {message}{end}{advice}"

    def at(self, line: int | None, code: str) -> Fault:
        """Return the fault with its place in the code, unless it has one."""
        if line is None or self.line is not None:
            return self
        lines = code.split("\n")
        return replace(self, line=line, source=lines[line - 1] if line <= len(lines) else None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of ``__result__`` (None: not set), the printed text, or the fault."""

    result: JsonValue = None
    printed: str = ""
    calls: int = 0
    fault: Fault | None = None


class StopError(Exception):
    """Ends a run from outside: the code cannot catch it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def fault_of(error: MontyRuntimeError | MontySyntaxError, code: str) -> Fault:
    """Return the fault for an error of the interpreter, which the code may have raised."""
    is_syntax = type(error).__name__ == "MontySyntaxError"
    kind = "SyntaxError" if is_syntax else error.display("type-msg").partition(":")[0]
    message = error.display("msg").strip() or "it says no more"
    if "cannot suspend" in message:
        kind = "NotImplementedError"
        message = (
            "functions that you were given cannot be called by sorted, map, filter and the like:"
            " call them in a loop of your own"
        )
    elif "not yet support" in message:
        what = message.partition("support")[2].strip() or "this"
        kind = "NotImplementedError"
        message = f"this Python does not have {what}: do it with simpler means"
    lines = [frame.line for frame in error.traceback() if frame.filename != _PRELUDE]
    fault = Fault(kind, message, advice=_ADVICE.get(kind))
    return fault.at(lines[-1] if lines else None, code)


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Quotes that could be read as a part of the end of a text.
_CLOSING = re.compile(r'"(?=""|\Z)')


def to_toml(document: Mapping[str, Any]) -> str:
    """Return a document as TOML: its plain values first, then each mapping as a table.

    Mappings within a table take one line each. Nulls are left out, except in lists, where they are
    ``{}``.
    """
    values = {name: value for name, value in document.items() if value is not None}
    lines = [_pair(*each) for each in values.items() if not isinstance(each[1], Mapping)]
    for name, table in values.items():
        if isinstance(table, Mapping):
            inner = [each for each in table.items() if each[1] is not None]
            inner.sort(key=lambda pair: isinstance(pair[1], Mapping))
            lines += ["", f"[{_key(name)}]", *(_pair(*each) for each in inner)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _pair(name: str, value: object) -> str:
    if not isinstance(value, str) or "\n" not in value:
        return f"{_key(name)} = {_value(value)}"
    parts = (
        part if part in "\n\t" else _quoted(part)[1:-1].replace('\\"', '"')
        for part in re.split(r"([\n\t])", value)
    )
    text = _CLOSING.sub(r'\\"', "".join(parts))
    return f'{_key(name)} = """\n{text}"""'


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _value(value: object) -> str:
    match value:
        case None:
            return "{}"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case Mapping():
            pairs = [
                f"{_key(name)} = {_value(each)}" for name, each in value.items() if each is not None
            ]
            return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
        case Sequence():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    """Quote a text as JSON does, which is valid TOML."""
    quoted = json.dumps(_SURROGATE.sub("\ufffd", text), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")
