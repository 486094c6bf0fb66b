"""What is wrong with a request, in words that quote nothing of it."""

from __future__ import annotations

from pydantic import ValidationError

_MOST = 5


def field_path(location: tuple[int | str, ...]) -> str:
    """Return a path such as ``messages[3].role``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def describe_faults(error: ValidationError) -> str:
    """Return the first faults, each with its field and what was expected."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    named = [f"{field_path(each['loc']) or 'request'}: {each['msg']}" for each in faults[:_MOST]]
    more = len(faults) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")
