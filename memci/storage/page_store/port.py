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


class BodyKey(NamedTuple):
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

    def save(self, key: BodyKey, text: str) -> None:
        """Keep a text; it is there when this returns, and nothing of it is when this raises.

        Raises ``InvalidInputError`` for what not every store can keep: NUL, and halves of
        surrogate pairs.
        """
        ...

    def load(self, key: BodyKey) -> str:
        """Return a text; ``NotFoundError`` when there is none, or none that can be read."""
        ...

    def delete(self, key: BodyKey) -> None:
        """Remove a text; one that is not there is no error."""
        ...

    def exists(self, key: BodyKey) -> bool:
        """Tell whether there is a text."""
        ...

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[BodyKey]:
        """Yield the keys of an agent's texts that were saved so many seconds ago, in any order.

        0: of all. Ages are by the store's own clock where it has one.
        """
        ...


@runtime_checkable
class JoinsTransactions(Protocol):
    """A store that lives in the database, or has one that does inside it."""

    def joined(self, connection: Connection) -> PageStore:
        """Return the same store as a part of a transaction: it commits or is undone with it."""
        ...


def joined(store: PageStore, connection: Connection) -> PageStore:
    """Return a store as a part of a transaction, where it can be one."""
    return store.joined(connection) if isinstance(store, JoinsTransactions) else store


def new_version() -> int:
    """Return a version that no text ever had: one in 10**18, by chance.

    Were versions counted, those of a transaction that was rolled back would come again: a writer
    that is late could then overwrite what another one has committed, and an agent that is erased
    and begins anew could be shown, from some process's cache, what stood there before.
    """
    return 1 + randbelow(10**_LONGEST - 1)


def encoded(text: str) -> bytes:
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


def name_of(key: BodyKey) -> str:
    """Return a key without its agent as a name of a file; ``NotFoundError`` for no page's."""
    name = f"{key.page}.{key.version}.txt"
    if not _NAME.fullmatch(name):
        raise NotFoundError(f"there is no page {key.page[:40]!r}")
    return name


def key_of(agent_id: str, name: str) -> BodyKey | None:
    """Return the key that a name was made of; None: it is no text's."""
    match = _NAME.fullmatch(name)
    return BodyKey(agent_id, match["page"], int(match["version"])) if match else None


def no_text(key: BodyKey) -> NotFoundError:
    """Return the error for a key under which nothing is kept."""
    return NotFoundError(f"page {key.page[:40]} has no text of version {key.version}")


def damaged(key: BodyKey) -> NotFoundError:
    """Return the error for what is no text any more."""
    return NotFoundError(f"the text of page {key.page} is damaged: bring it back from a back-up")


@runtime_checkable
class TakesMany(Protocol):
    """A store that is asked once for many texts, or for several at a time."""

    def load_many(self, keys: Sequence[BodyKey]) -> dict[BodyKey, str]:
        """Do as ``load_many`` of this module."""
        ...

    def delete_many(self, keys: Sequence[BodyKey]) -> None:
        """Do as ``delete_many`` of this module."""
        ...


def load_many(store: PageStore, keys: Sequence[BodyKey]) -> dict[BodyKey, str]:
    """Return those texts that there are, and that can be read; all in memory at once.

    Raises ``PageStoreError``.
    """
    if isinstance(store, TakesMany):
        return store.load_many(keys)
    texts = {}
    for key in keys:
        with suppress(NotFoundError):
            texts[key] = store.load(key)
    return texts


def delete_many(store: PageStore, keys: Sequence[BodyKey]) -> None:
    """Remove texts; those that are not there are no error.

    Raises ``PageStoreError``; some may be gone then.
    """
    if isinstance(store, TakesMany):
        store.delete_many(keys)
        return
    for key in keys:
        store.delete(key)
