"""Reads a file of messages: detects its format, parses it and gives ids to messages without one.

The same file sent again gives the same ids, so nothing is stored twice; a file that has grown
keeps the ids of what it began with. Two files that begin alike share the ids of that beginning:
it is the same conversation, unless it is said to be of another session.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from memci.cli.formats import chat_text, json_files
from memci.cli.formats.parsed_file import BadFileError, FileFormat, Parsed

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
            parsed = json_files.parse_json_list(text)
        case FileFormat.JSONL:
            parsed = json_files.parse_json_lines(text)
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
        return FileFormat.JSONL if json_files.is_value(first_line) else FileFormat.JSON
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
