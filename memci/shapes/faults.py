"""What is wrong with a request, in words that quote nothing of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import ValidationError

from memci.expectation import Fault, expectation, own_faults

_MOST = 5
_LONGEST_PATH = 256
# Names of fields that were made up by the sender may hold anything, of any length.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def field_path(location: tuple[int | str, ...]) -> str:
    """Return a path such as ``messages[3].role``; ``?`` stands for a name that is none of ours."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += ("." if path else "") + (part if _NAME.fullmatch(part) else "?")
    return path[:_LONGEST_PATH]


def describe_faults(error: ValidationError) -> str:
    """Return the first faults, each with its field and what was expected."""
    return _joined(
        [f"{field_path(each['loc']) or 'request'}: {expectation(each)}" for each in _own(error)]
    )


def describe_misuse(error: ValidationError, arguments: Sequence[str]) -> str:
    """Do so for a model that has used a tool, of which it knows the arguments, and no request."""
    return _joined([_misuse(each, arguments) for each in _own(error)])


def _misuse(fault: Fault, arguments: Sequence[str]) -> str:
    path, expected = field_path(fault["loc"]), expectation(fault)
    if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
        there_are = f"use {', '.join(arguments)}" if arguments else "leave it out"
        expected = f"there is no such argument: {there_are}"
    return f"{path}: {expected}" if path else expected


def _own(error: ValidationError) -> list[Fault]:
    return own_faults(error.errors(include_input=False, include_url=False))


def _joined(faults: Sequence[str]) -> str:
    more = len(faults) - _MOST
    return "; ".join(faults[:_MOST]) + (f"; and {more} more" if more > 0 else "")
