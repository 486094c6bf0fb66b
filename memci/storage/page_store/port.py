"""The port of page stores, which keep the texts of notes (P14)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from secrets import randbelow
from typing import NamedTuple, Protocol, runtime_checkable

from sqlalchemy import Connection

from memci.errors import InvalidInputError, NotFoundError

_LONGEST = 18  # digits of a version: PostgreSQL's bigint and every name of a file hold them
_PAGE = r"[a-z][a-z0-9_]{0,31}-\d{1,15}"
_NAME = re.compile(rf"(?P<page>{_PAGE})\.(?P<version>\d{{1,{_LONGEST}}})\.txt")


class TextKey(NamedTuple):
    """The key of a text. A version is never used for another text (``new_version``)."""

    agent_id: str
    page: str
    version: int


class PageStore(Protocol):
    """Keeps immutable texts by key; thread-safe.

    Saving the same text twice is no error. All methods raise ``PageStoreError`` if the store does
    not answer.
    """

    def save(self, key: TextKey, text: str) -> None:
        """Save a text durably, or raise and save nothing of it.

        Raises ``InvalidInputError`` for NUL and lone surrogates, which not every store can keep.
        """
        ...

    def load(self, key: TextKey) -> str:
        """Return a text; raises ``NotFoundError`` if it is missing or unreadable."""
        ...

    def delete(self, key: TextKey) -> None:
        """Delete a text; a missing one is no error."""
        ...

    def exists(self, key: TextKey) -> bool:
        """Return True if there is a text."""
        ...

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Yield the keys of an agent's texts that are at least ``older_s`` seconds old, unordered.

        Ages are by the store's own clock if it has one.
        """
        ...


@runtime_checkable
class TransactionalStore(Protocol):
    """A store that can take part in a database transaction."""

    def in_transaction(self, connection: Connection) -> PageStore:
        """Return the store as a part of the transaction: it commits or rolls back with it."""
        ...


def in_transaction(store: PageStore, connection: Connection) -> PageStore:
    """Return the store as a part of the transaction, if it supports that."""
    return store.in_transaction(connection) if isinstance(store, TransactionalStore) else store


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


def text_file_name(key: TextKey) -> str:
    """Return the file name of a key; raises ``NotFoundError`` for an invalid page index."""
    name = f"{key.page}.{key.version}.txt"
    if not _NAME.fullmatch(name):
        raise NotFoundError(f"there is no page {key.page[:40]!r}")
    return name


def parse_file_name(agent_id: str, name: str) -> TextKey | None:
    """Return the key of a file name; None if it is not one of a text."""
    match = _NAME.fullmatch(name)
    return TextKey(agent_id, match["page"], int(match["version"])) if match else None


def no_text_error(key: TextKey) -> NotFoundError:
    """Return the error for a missing text."""
    return NotFoundError(f"page {key.page[:40]} has no text of version {key.version}")


def damaged_text_error(key: TextKey) -> NotFoundError:
    """Return the error for an unreadable text."""
    return NotFoundError(f"the text of page {key.page} is damaged: bring it back from a back-up")


@runtime_checkable
class BatchStore(Protocol):
    """A store that handles many texts of one agent at once."""

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        """Do as ``load_many`` of this module."""
        ...

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        """Do as ``delete_many`` of this module."""
        ...


def load_many(store: PageStore, keys: Sequence[TextKey]) -> dict[TextKey, str]:
    """Return the texts that exist and are readable; raises ``PageStoreError``."""
    if isinstance(store, BatchStore):
        return store.load_many(keys)
    texts = {}
    for key in keys:
        with suppress(NotFoundError):
            texts[key] = store.load(key)
    return texts


def delete_many(store: PageStore, keys: Sequence[TextKey]) -> None:
    """Delete texts; raises ``PageStoreError``, possibly after some are deleted."""
    if isinstance(store, BatchStore):
        store.delete_many(keys)
        return
    for key in keys:
        store.delete(key)
