"""Reads a file of messages: detects its format, parses it and gives ids to messages without one.

The same file sent again gives the same ids, so nothing is stored twice; a file that has grown
keeps the ids of what it began with. Two files that begin alike share the ids of that beginning:
it is the same conversation, unless it is said to be of another session.

Files of messages as JSON: a list as OpenAI's API takes it, or JSON lines.
"""

import codecs
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from memci.cli.formats import FileFormat, chat_text
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


# Of a binary file the first bytes tell it; of text none of these is any.
_BINARY = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1b")
_LOOKED_AT = 4096


def decode(content: bytes) -> str:
    """Return the text of a file, or raise ``BadFileError`` that says why it is none."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadFileError("the file is UTF-16: save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = "a binary file" if _is_binary(content) else "not UTF-8"
        raise BadFileError(
            f"line {line}: this is {what} (byte {error.start}); expected UTF-8 text"
        ) from None
    at = text.find("\x00")
    if at >= 0:
        line = text.count("\n", 0, at) + 1
        raise BadFileError(f"line {line}: a NUL byte; expected UTF-8 text, not a binary file")
    return text


def parse(text: str, file_format: FileFormat | None = None) -> Parsed:
    """Return the messages of a text; without a format, of the kind that it looks like.

    Raises ``BadFileError`` that names the line, or the message, that cannot be one.
    """
    if not text.strip():
        raise BadFileError("the file is empty: there is no message in it")
    chosen = file_format or detect(text)
    match chosen:
        case FileFormat.JSON:
            parsed = parse_json_list(text)
        case FileFormat.JSONL:
            parsed = parse_json_lines(text)
        case FileFormat.TEXT:
            parsed = chat_text.parse(text)
    if not parsed.messages:
        raise BadFileError("there is no message in the file")
    return parsed


def detect(text: str) -> FileFormat:
    """Return what kind of file this looks like."""
    start = text.lstrip()[:1]
    if start == "{":
        # As JSON lines are read: text in JSON may hold U+0085 and its like as they are.
        first_line = next(line for line in text.split("\n") if line.strip())
        return FileFormat.JSONL if is_value(first_line) else FileFormat.JSON
    first_line = next(line for line in text.splitlines() if line.strip())
    if start == "[" and not chat_text.starts_message(first_line):
        return FileFormat.JSON
    return FileFormat.TEXT


def _is_binary(content: bytes) -> bool:
    return not _BINARY.isdisjoint(content[:_LOOKED_AT])


def with_ids(
    messages: Iterable[dict[str, Any]], session_id: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the messages, each with an id; one that it brought along stays."""
    chain = hashlib.sha256(json.dumps(session_id).encode())
    for message in messages:
        written = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        chain.update(written.encode() + b"\n")
        yield {"id": f"file-{chain.hexdigest()[:32]}", **message}
