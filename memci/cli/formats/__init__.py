"""Files of conversations: lists of JSON messages, JSON lines, and plain chat text."""

from enum import StrEnum


class FileFormat(StrEnum):
    """Kinds of files."""

    JSON = "json"  # a list of messages, or an object that holds one under "messages"
    JSONL = "jsonl"  # one message a line
    TEXT = "text"  # Alice: …
