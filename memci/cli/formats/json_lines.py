"""JSON lines: a message a line, or a whole conversation a line."""

from __future__ import annotations

import json

from memci.cli.formats.json_list import add_value, load
from memci.cli.formats.parsed import Parsed


def parse(text: str) -> Parsed:
    """Return the messages of all lines; empty lines are nothing."""
    parsed = Parsed("JSON lines")
    # Only \n ends a line: JSON text may hold U+2028 and its like as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            add_value(parsed, load(line, number), f"line {number}, ")
    return parsed


def is_value(line: str) -> bool:
    """Tell whether a line is JSON by itself."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
