"""A file that was handed over to be found in (R9)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from memci.errors import InvalidInputError

MOST_NAME = 512
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class DocumentState(StrEnum):
    """How far a document is: waiting, partly to be found, wholly so, or refused."""

    QUEUED = "queued"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A file as it was sent: ``digest`` is the SHA-256 of its bytes, as hexadecimal digits."""

    name: str
    body: bytes
    digest: str


def check_name(name: str) -> str:
    """Return a document's name with slashes between folders, or raise ``InvalidInputError``.

    Any script may be used; it is a name of ours and never opened as a path.
    """
    shown = name.replace("\\", "/").strip()
    shown = re.sub(r"^(?:\./+)+", "", shown)
    if not shown or len(shown) > MOST_NAME or _CONTROL.search(shown) or not _storable(shown):
        raise InvalidInputError(
            f"name: expected 1 to {MOST_NAME} characters of one line in UTF-8, such as "
            "docs/guide.md",
            field="name",
        )
    return shown


def _storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
