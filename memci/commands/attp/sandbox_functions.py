"""The environment of sandboxed code: allowed imports, a prelude, and our functions (P15)."""

import io
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any, Literal, NamedTuple, TypeAlias

import structlog

from memci.commands.attp.outcome import Fault, JsonValue, NotJsonError, StopError, to_json_value

ALLOWED = ("math", "json", "datetime", "re", "random")
_NO_OUTSIDE = "there are no files, processes or network here; use the functions that you were given"
_INSTEAD = {
    "statistics": "mean, median and stdev are there as functions, without an import",
    "time": "datetime.datetime.now() tells the time, and nothing waits here",
    "asyncio": "call the functions directly, one after the other",
    "collections": "use dict, list and set",
    "itertools": "use loops and list comprehensions",
    "functools": "use loops and functions of your own",
    "typing": "leave types out",
    "__future__": "leave it out",
} | dict.fromkeys(
    ("os", "sys", "io", "pathlib", "subprocess", "socket", "shutil", "requests", "urllib", "httpx"),
    _NO_OUTSIDE,
)
# Tokens that end a statement or its head within a line.
_SEPARATORS = {";", ":"}
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}


class Import(NamedTuple):
    """An imported module, and the line of the import."""

    module: str
    line: int


def import_refusal(module: str) -> str:
    """Return the error for a forbidden import."""
    root = module.partition(".")[0]
    hint = _INSTEAD.get(root)
    return (
        f"cannot import {module[:80]}: only {', '.join(ALLOWED)} can be imported, and are at hand "
        f"without it" + (f"; {hint}" if hint else "")
    )


def first_forbidden_import(code: str) -> Import | None:
    """Return the first forbidden import of the code; None if there is none."""
    return next((each for each in _imports(code) if each.module not in ALLOWED), None)


def _imports(code: str) -> Iterator[Import]:
    statement: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type in _SKIPPED:
                continue
            if token.type == tokenize.NEWLINE or token.string in _SEPARATORS:
                yield from _imports_of(statement)
                statement = []
            else:
                statement.append(token)
    except (tokenize.TokenError, SyntaxError):
        pass  # The interpreter reports it.
    yield from _imports_of(statement)


def _imports_of(statement: Sequence[tokenize.TokenInfo]) -> Iterator[Import]:
    words = [token.string for token in statement]
    match words:
        case ["from", *rest] if "import" in rest:
            yield Import("".join(rest[: rest.index("import")]), statement[0].start[0])
        case ["import", *rest]:
            for part in " ".join(rest).split(","):
                module = part.partition(" as ")[0].replace(" ", "")
                yield Import(module, statement[0].start[0])


PRELUDE = """
import math, json, datetime, re, random

def mean(values):
    numbers = list(values)
    if not numbers:
        raise ValueError("mean needs at least one number")
    return math.fsum(numbers) / len(numbers)

def median(values):
    numbers = sorted(values)
    if not numbers:
        raise ValueError("median needs at least one number")
    middle = len(numbers) // 2
    if len(numbers) % 2:
        return numbers[middle]
    return (numbers[middle - 1] + numbers[middle]) / 2

def stdev(values):
    numbers = list(values)
    if len(numbers) < 2:
        raise ValueError("stdev needs at least two numbers")
    center = mean(numbers)
    return math.sqrt(math.fsum([(each - center) ** 2 for each in numbers]) / (len(numbers) - 1))

def eval(*values):
    raise PermissionError("eval and exec are not at hand: write the code itself")

exec = eval
"""


Function: TypeAlias = Callable[..., Any]
Kind: TypeAlias = Literal[
    "ValueError",
    "TypeError",
    "LookupError",
    "PermissionError",
    "RuntimeError",
    "NameError",
    "ImportError",
]
_log = structlog.get_logger(__name__)


class CallError(Exception):
    """An error of a function that code may catch, as a Python error of this kind."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class HostFunctions:
    """The functions of one run, and the number of calls so far.

    A function raises ``CallError`` for errors that code may catch, and ``StopError`` to end the
    run. Any other exception also ends the run, and only the log shows it.
    """

    functions: Mapping[str, Function]
    most_calls: int
    longest: int
    calls: int = 0

    def call(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> JsonValue:
        """Call a function with JSON values."""
        self.calls += 1
        if self.calls > self.most_calls:
            message = f"the code made more than {self.most_calls} calls of functions"
            raise StopError(Fault("RuntimeError", message, advice="Do less in one call."))
        function = self.functions.get(name)
        if function is None:
            near = get_close_matches(name, self.functions, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.functions)}"
            raise CallError("NameError", f"there is no function {name[:80]}; {hint}")
        what = f"the input of {name}"
        try:
            values: Any = to_json_value(list(args), self.longest, what)
            named: Any = to_json_value(dict(kwargs), self.longest, what)
        except NotJsonError as error:
            raise CallError("TypeError", str(error)) from None
        try:
            signature(function).bind(*values, **named)
        except TypeError as error:
            raise CallError("TypeError", f"{name}: {error}") from None
        answer = _run(name, function, values, named)
        try:
            return to_json_value(answer, self.longest, f"the answer of {name}")
        except NotJsonError as error:
            raise CallError("ValueError", str(error)) from None


def _run(name: str, function: Function, values: list[Any], named: dict[str, Any]) -> object:
    try:
        return function(*values, **named)
    except (CallError, StopError):
        raise
    except Exception:  # noqa: BLE001 - the code must not see it, whatever it is
        _log.exception("a function failed that a model's code called", function=name)
        raise StopError(
            Fault(
                "InternalError",
                f"{name} failed within memci, which is not your fault",
                advice="Try again, or go on without it.",
            )
        ) from None
