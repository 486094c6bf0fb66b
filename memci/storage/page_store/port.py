"""The port of page stores (P14).

Many texts of one agent at once, where a store does that better than one by one (P14).
"""

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
    """Whose text it is, of which page, and which version of it.

    A version names one text of one page for ever: see ``new_version``.
    """

    agent_id: str
    page: str
    version: int


class PageStore(Protocol):
    """Keeps texts for ever under their key: what is saved once is never changed.

    Saving the same text under the same key again does no harm; nobody saves another one. Safe for
    threads. All verbs raise ``PageStoreError`` when the store does not answer.
    """

    def save(self, key: TextKey, text: str) -> None:
        """Keep a text; it is there when this returns, and nothing of it is when this raises.

        Raises ``InvalidInputError`` for what not every store can keep: NUL, and halves of
        surrogate pairs.
        """
        ...

    def load(self, key: TextKey) -> str:
        """Return a text; ``NotFoundError`` when there is none, or none that can be read."""
        ...

    def delete(self, key: TextKey) -> None:
        """Remove a text; one that is not there is no error."""
        ...

    def exists(self, key: TextKey) -> bool:
        """Tell whether there is a text."""
        ...

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Yield the keys of an agent's texts that were saved so many seconds ago, in any order.

        0: of all. Ages are by the store's own clock where it has one.
        """
        ...


@runtime_checkable
class TransactionalStore(Protocol):
    """A store that lives in the database, or has one that does inside it."""

    def joined(self, connection: Connection) -> PageStore:
        """Return the same store as a part of a transaction: it commits or is undone with it."""
        ...


def in_transaction(store: PageStore, connection: Connection) -> PageStore:
    """Return a store as a part of a transaction, where it can be one."""
    return store.joined(connection) if isinstance(store, TransactionalStore) else store


def new_version() -> int:
    """Return a version that no text ever had: one in 10**18, by chance.

    Were versions counted, those of a transaction that was rolled back would come again: a writer
    that is late could then overwrite what another one has committed, and an agent that is erased
    and begins anew could be shown, from some process's cache, what stood there before.
    """
    return 1 + randbelow(10**_LONGEST - 1)


def encode_text(text: str) -> bytes:
    """Return a text as UTF-8, or raise ``InvalidInputError`` for what not every store can keep."""
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
    """Return a key without its agent as a name of a file; ``NotFoundError`` for no page's."""
    name = f"{key.page}.{key.version}.txt"
    if not _NAME.fullmatch(name):
        raise NotFoundError(f"there is no page {key.page[:40]!r}")
    return name


def parse_file_name(agent_id: str, name: str) -> TextKey | None:
    """Return the key that a name was made of; None: it is no text's."""
    match = _NAME.fullmatch(name)
    return TextKey(agent_id, match["page"], int(match["version"])) if match else None


def no_text_error(key: TextKey) -> NotFoundError:
    """Return the error for a key under which nothing is kept."""
    return NotFoundError(f"page {key.page[:40]} has no text of version {key.version}")


def damaged_text_error(key: TextKey) -> NotFoundError:
    """Return the error for what is no text any more."""
    return NotFoundError(f"the text of page {key.page} is damaged: bring it back from a back-up")


@runtime_checkable
class BatchStore(Protocol):
    """A store that is asked once for many texts, or for several at a time."""

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        """Do as ``load_many`` of this module."""
        ...

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        """Do as ``delete_many`` of this module."""
        ...


def load_many(store: PageStore, keys: Sequence[TextKey]) -> dict[TextKey, str]:
    """Return those texts that there are, and that can be read; all in memory at once.

    Raises ``PageStoreError``.
    """
    if isinstance(store, BatchStore):
        return store.load_many(keys)
    texts = {}
    for key in keys:
        with suppress(NotFoundError):
            texts[key] = store.load(key)
    return texts


def delete_many(store: PageStore, keys: Sequence[TextKey]) -> None:
    """Remove texts; those that are not there are no error.

    Raises ``PageStoreError``; some may be gone then.
    """
    if isinstance(store, BatchStore):
        store.delete_many(keys)
        return
    for key in keys:
        store.delete(key)
