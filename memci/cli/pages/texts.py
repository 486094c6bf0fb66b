"""Long texts as arguments: from a file, from standard input, or as they stand."""

from __future__ import annotations

import sys
from pathlib import Path

from memci.client.files import unreadable
from memci.errors import InvalidInputError

HOW = "@FILE: from a file; -: from standard input; @@ begins a text with @"
_STDIN, _FROM = "-", "@"


def text_of(given: str, field: str) -> str:
    """Return the text that is meant, or raise ``InvalidInputError`` if it cannot be read."""
    if given != _STDIN and not given.startswith(_FROM):
        return given
    if given.startswith(_FROM * 2):
        return given[1:]
    try:
        content = sys.stdin.buffer.read() if given == _STDIN else Path(given[1:]).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInputError(unreadable(given[1:], error), field=field) from None
    except UnicodeDecodeError:
        raise InvalidInputError(
            "this text is not in UTF-8: convert it first", field=field
        ) from None
