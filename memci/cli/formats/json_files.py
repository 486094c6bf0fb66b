"""Files of messages as JSON: a list as OpenAI's API takes it, or JSON lines."""

from __future__ import annotations

import json
from typing import Any

from memci.cli.formats.parsed_file import BadFileError, Parsed, add_message


def parse_json_list(text: str) -> Parsed:
    """Return the messages of a JSON document."""
    parsed = Parsed("JSON")
    add_value(parsed, load(text), "")
    return parsed


def load(text: str, line: int | None = None) -> Any:
    """Parse JSON, or raise ``BadFileError`` with the line; ``line`` is where the text stands."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = error.lineno if line is None else line
        raise BadFileError(f"line {at}: not JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise BadFileError(f"line {line or 1}: JSON that is nested too deep") from None
    except ValueError:  # a number of thousands of digits
        raise BadFileError(f"line {line or 1}: a number that is out of every range") from None


def add_value(parsed: Parsed, value: Any, where: str) -> None:
    """Add the message or messages that a JSON value holds; ``where`` is its place in the file."""
    listed = value.get("messages") if isinstance(value, dict) and "messages" in value else value
    if isinstance(listed, list):
        for number, each in enumerate(listed, start=1):
            add_message(parsed, each, f"{where}message {number}")
    else:
        add_message(parsed, listed, where.rstrip(", ") or "message 1")


def parse_json_lines(text: str) -> Parsed:
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
