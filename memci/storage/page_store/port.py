"""The port of page stores, which keep the texts of notes (P14)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from secrets import randbelow
from typing import NamedTuple, Self

from sqlalchemy import Connection

from memci.errors import InvalidInputError, NotFoundError

_LONGEST = 18  # digits of a version: PostgreSQL's bigint and every file name hold them
_PAGE = r"[a-z][a-z0-9_]{0,31}-\d{1,15}"
_NAME = re.compile(rf"(?P<page>{_PAGE})\.(?P<version>\d{{1,{_LONGEST}}})\.txt")


class TextKey(NamedTuple):
    """The key of a text. A version is never used for another text (``new_version``)."""

    agent_id: str
    page: str
    version: int

    def checked(self) -> Self:
        """Return the key; raises ``NotFoundError`` if its page index is invalid."""
        if not _NAME.fullmatch(f"{self.page}.{self.version}.txt"):
            raise NotFoundError(f"there is no page {self.page[:40]!r}")
        return self

    @property
    def file_name(self) -> str:
        """The name of a file with the text; raises as ``checked``."""
        return f"{self.checked().page}.{self.version}.txt"

    def not_found(self) -> NotFoundError:
        """Return the error for a missing text."""
        return NotFoundError(f"page {self.page[:40]} has no text of version {self.version}")

    def decoded(self, content: bytes) -> str:
        """Return the stored text; raises ``NotFoundError`` if it is damaged."""
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise NotFoundError(
                f"the text of page {self.page} is damaged: bring it back from a back-up"
            ) from None


def parse_file_name(agent_id: str, name: str) -> TextKey | None:
    """Return the key of a file name; None if it is not one of a text."""
    match = _NAME.fullmatch(name)
    return TextKey(agent_id, match["page"], int(match["version"])) if match else None


class PageStore(ABC):
    """Keeps immutable texts by key; thread-safe.

    Saving the same text twice is no error. All methods raise ``PageStoreError`` if the store does
    not answer.
    """

    # The texts are outside of the database: read them before anything is locked.
    is_remote = False

    @abstractmethod
    def save(self, key: TextKey, text: str) -> None:
        """Save a text durably, or raise and save nothing of it.

        Raises ``InvalidInputError`` for NUL and lone surrogates, which not every store can keep.
        """

    @abstractmethod
    def load(self, key: TextKey) -> str:
        """Return a text; raises ``NotFoundError`` if it is missing or unreadable."""

    def delete(self, key: TextKey) -> None:
        """Delete a text; raises ``NotFoundError`` if its page index is invalid."""
        self.delete_many([key.checked()])

    def exists(self, key: TextKey) -> bool:
        """Return True if there is a readable text."""
        return bool(self.load_many([key.checked()]))

    @abstractmethod
    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Yield the keys of an agent's texts that are at least ``older_s`` seconds old, unordered.

        Ages are by the store's own clock if it has one.
        """

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        """Return the texts of one agent that exist and are readable."""
        texts = {}
        for key in keys:
            with suppress(NotFoundError):
                texts[key] = self.load(key)
        return texts

    @abstractmethod
    def delete_many(self, keys: Sequence[TextKey]) -> None:
        """Delete texts of one agent; an error may come after some are deleted.

        A missing text is no error.
        """

    def in_transaction(self, connection: Connection) -> PageStore:
        """Return the store as a part of a database transaction, if it can be a part of one."""
        del connection
        return self

    def check(self) -> None:
        """Raise ``PageStoreError`` if the store has vanished."""
        return


def new_version() -> int:
    """Return a random version out of 10**18.

    A counter would reuse versions after a rollback or after an agent's erasure: a late writer could
    overwrite a committed text, and a cache could return an erased one.
    """
    return 1 + randbelow(10**_LONGEST - 1)


def encode_text(text: str) -> bytes:
    """Return a text as UTF-8; raises ``InvalidInputError`` for NUL and lone surrogates."""
    if "\0" in text:
        raise InvalidInputError("a page's text cannot hold the character NUL", field="detail")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(
            "a page's text cannot hold half of a surrogate pair: it is no valid Unicode",
            field="detail",
        ) from None
