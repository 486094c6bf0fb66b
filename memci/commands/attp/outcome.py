"""How a run of sandboxed code ended, in words that a model can act on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memci.commands.attp.plain import Plain

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
    """Why code did not come to its end: the class of the error, where, and what to do."""

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

    result: Plain = None
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
    """Return what an error of the interpreter means to the one who wrote the code."""
    kind, message = _kind(error), error.display("msg").strip()
    line = _line(error.traceback())
    if "not yet support" in message or "cannot suspend" in message:
        kind, message = "NotImplementedError", _unsupported(message)
    return Fault(kind, message or "it says no more", line, _source(line, code), _ADVICE.get(kind))


def _kind(error: MontyRuntimeError | MontySyntaxError) -> str:
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
