"""Which imports sandboxed code may make, and what to use instead of others (P15).

The interpreter has more modules than a model is told of. None of them reaches outside, so this is
no wall but a rule: what was not promised is refused with a hint, on its line.

What sandboxed code finds at hand beside the functions that it is given (P15).

It is run in the sandbox before the code. The interpreter has no ``statistics``; and code that is
built from text is not needed for anything that a model does here.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

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
# What ends a statement, or the head of one that goes on in the same line.
_SEAMS = {";", ":"}
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}


class Import(NamedTuple):
    """A module that code imports, and the line that does."""

    module: str
    line: int


def refusal(module: str) -> str:
    """Return what to say to code that imports a module that it may not."""
    root = module.partition(".")[0]
    hint = _INSTEAD.get(root)
    return (
        f"cannot import {module[:80]}: only {', '.join(ALLOWED)} can be imported, and are at hand "
        f"without it" + (f"; {hint}" if hint else "")
    )


def first_forbidden(code: str) -> Import | None:
    """Return the first import that may not be, as far as the code can be read."""
    return next((each for each in _imports(code) if each.module not in ALLOWED), None)


def _imports(code: str) -> Iterator[Import]:
    statement: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type in _SKIPPED:
                continue
            if token.type == tokenize.NEWLINE or token.string in _SEAMS:
                yield from _of(statement)
                statement = []
            else:
                statement.append(token)
    except (tokenize.TokenError, SyntaxError):
        pass  # The interpreter says what is wrong with it.
    yield from _of(statement)


def _of(statement: list[tokenize.TokenInfo]) -> Iterator[Import]:
    words = [token.string for token in statement]
    if not words:
        return
    line = statement[0].start[0]
    if words[0] == "from" and "import" in words:
        yield Import("".join(words[1 : words.index("import")]), line)
    elif words[0] == "import":
        for part in " ".join(words[1:]).split(","):
            yield Import(part.partition(" as ")[0].replace(" ", ""), line)


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
