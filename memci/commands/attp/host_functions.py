"""Functions of ours that sandboxed code may call: what crosses, how often, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any, Literal, TypeAlias

import structlog

from memci.commands.attp.outcome import Fault, NotPlainError, Plain, StopError, plain

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
        """Take what the code sees."""
        super().__init__(message)
        self.kind = kind


@dataclass
class Hosting:
    """The functions of one run, and how many calls it has made.

    A function raises ``CallError`` for what code may catch and ``StopError`` to end the run.
    Whatever else it raises ends the run as well, and only the log says what it was.
    """

    functions: Mapping[str, Function]
    most_calls: int
    longest: int
    calls: int = 0

    def call(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> Plain:
        """Call a function with what JSON knows of its arguments."""
        self.calls += 1
        if self.calls > self.most_calls:
            raise StopError(
                Fault(
                    "RuntimeError",
                    f"the code made more than {self.most_calls} calls of functions",
                    advice="Do less in one call.",
                )
            )
        function = self.functions.get(name)
        if function is None:
            raise CallError("NameError", self.unknown(name))
        values, named = self._arguments(name, args, kwargs)
        try:
            signature(function).bind(*values, **named)
        except TypeError as error:
            raise CallError("TypeError", f"{name}: {error}") from None
        return self._answer(name, self._done(name, function, values, named))

    def unknown(self, name: str) -> str:
        """Return what to say of a name that there is not."""
        near = get_close_matches(name, self.functions, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.functions)}"
        return f"there is no function {name[:80]}; {hint}"

    def _arguments(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[list[Any], dict[str, Any]]:
        what = f"the input of {name}"
        try:
            values: Any = plain(list(args), self.longest, what)
            named: Any = plain(dict(kwargs), self.longest, what)
        except NotPlainError as error:
            raise CallError("TypeError", str(error)) from None
        return values, named

    def _done(
        self, name: str, function: Function, values: list[Any], named: dict[str, Any]
    ) -> object:
        try:
            return function(*values, **named)
        except (CallError, StopError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it is no business of the code
            _log.exception("a function failed that a model's code called", function=name)
            raise StopError(
                Fault(
                    "InternalError",
                    f"{name} failed within memci, which is not your fault",
                    advice="Try again, or go on without it.",
                )
            ) from None

    def _answer(self, name: str, answer: object) -> Plain:
        try:
            return plain(answer, self.longest, f"the answer of {name}")
        except NotPlainError as error:
            raise CallError("ValueError", str(error)) from None
