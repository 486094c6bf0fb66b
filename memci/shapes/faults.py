"""What is wrong with a request, in words that quote nothing of it."""

from __future__ import annotations

import re

from pydantic import ValidationError

from memci.expectation import expectation, own_faults

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
    faults = own_faults(error.errors(include_input=False, include_url=False))
    named = [
        f"{field_path(each['loc']) or 'request'}: {expectation(each)}" for each in faults[:_MOST]
    ]
    more = len(faults) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")
