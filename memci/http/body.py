"""What is wrong with a body before anybody looks at what it says."""

from __future__ import annotations

from typing import Any

from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError


class MalformedError(InvalidInputError):
    """The body is not JSON."""


class MediaTypeError(InvalidInputError):
    """The body must be JSON: send it with 'Content-Type: application/json'."""


def parse_json(body: bytes) -> Any:
    """Parse UTF-8 JSON of RFC 8259, or raise ``MalformedError``."""
    try:
        return decode(body)
    except NotStrictError as error:
        raise MalformedError(f"the body {error}") from None
