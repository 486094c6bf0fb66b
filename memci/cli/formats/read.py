"""Reads a file of messages: detects its format, parses it and gives ids to messages without one.

The same file gives the same ids when it is sent again, so nothing is stored twice. A file that has
grown keeps the ids of its first messages. Two files that begin alike share these ids, unless their
sessions differ.
"""

import codecs
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from memci.cli.formats import FileFormat, chat_text
from memci.cli.formats.parsed_file import BadFileError, Parsed, add_message


def load(text: str, line: int | None = None) -> Any:
    """Parse JSON that stands on ``line`` (None: a whole file); raise ``BadFileError``."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = error.lineno if line is None else line
        raise BadFileError(f"line {at}: not JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise BadFileError(f"line {line or 1}: JSON that is nested too deep") from None
    except ValueError:  # a number of thousands of digits
        raise BadFileError(f"line {line or 1}: a number is out of range") from None


def add_value(parsed: Parsed, value: Any, where: str) -> None:
    """Add the message or messages of a JSON value; ``where`` is its place in the file."""
    listed = value.get("messages") if isinstance(value, dict) and "messages" in value else value
    if isinstance(listed, list):
        for number, each in enumerate(listed, start=1):
            add_message(parsed, each, f"{where}message {number}")
    else:
        add_message(parsed, listed, where.rstrip(", ") or "message 1")


def parse_json_lines(text: str) -> Parsed:
    """Return the messages of all lines; empty lines are skipped."""
    parsed = Parsed("JSON lines")
    # Only \n ends a line: JSON text may hold U+2028 and its like as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            add_value(parsed, load(line, number), f"line {number}, ")
    return parsed


def is_value(line: str) -> bool:
    """Return True if a line is a JSON value."""
    try:
        load(line)
    except BadFileError:
        return False
    return True


# Bytes that text does not contain; the first bytes of a file are checked.
_BINARY = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1b")
_LOOKED_AT = 4096


def decode(content: bytes) -> str:
    """Return the text of a file, or raise ``BadFileError`` if it is not UTF-8 text."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadFileError("the file is UTF-16: save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = "not UTF-8" if _BINARY.isdisjoint(content[:_LOOKED_AT]) else "a binary file"
        raise BadFileError(
            f"line {line}: this is {what} (byte {error.start}); expected UTF-8 text"
        ) from None
    at = text.find("\x00")
    if at >= 0:
        line = text.count("\n", 0, at) + 1
        raise BadFileError(f"line {line}: a NUL byte; expected UTF-8 text, not a binary file")
    return text


def parse(text: str, file_format: FileFormat | None = None) -> Parsed:
    """Return the messages of a text; the format is detected if it is not given.

    Raises ``BadFileError`` with the line or the number of the message.
    """
    if not text.strip():
        raise BadFileError("the file is empty: there is no message in it")
    match file_format or detect(text):
        case FileFormat.JSON:
            parsed = Parsed("JSON")
            add_value(parsed, load(text), "")
        case FileFormat.JSONL:
            parsed = parse_json_lines(text)
        case FileFormat.TEXT:
            parsed = chat_text.parse(text)
    if not parsed.messages:
        raise BadFileError("there is no message in the file")
    return parsed


def detect(text: str) -> FileFormat:
    """Return the most likely format of the text."""
    start = text.lstrip()[:1]
    if start == "{":
        # As JSON lines are read: text in JSON may hold U+0085 and its like as they are.
        first_line = next(line for line in text.split("\n") if line.strip())
        return FileFormat.JSONL if is_value(first_line) else FileFormat.JSON
    first_line = next(line for line in text.splitlines() if line.strip())
    if start == "[" and not chat_text.match_line(first_line):
        return FileFormat.JSON
    return FileFormat.TEXT


def with_ids(
    messages: Iterable[dict[str, Any]], session_id: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the messages, each with an id; a message keeps the id that it has."""
    chain = hashlib.sha256(json.dumps(session_id).encode())
    for message in messages:
        written = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        chain.update(written.encode() + b"\n")
        yield {"id": f"file-{chain.hexdigest()[:32]}", **message}
