"""The port of page stores (P14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class BodyKey(NamedTuple):
    """Whose text it is, of which page, and which version of it (from 1)."""

    agent_id: str
    page: str
    version: int


class PageStore(Protocol):
    """Keeps texts for ever under their key: what is saved once is never changed.

    All verbs raise ``PageStoreError`` when the store does not answer.
    """

    def save(self, key: BodyKey, text: str) -> None:
        """Keep a text; it is there when this returns, and nothing of it is when this raises."""
        ...

    def load(self, key: BodyKey) -> str:
        """Return a text; ``NotFoundError`` when there is none."""
        ...

    def delete(self, key: BodyKey) -> None:
        """Remove a text; one that is not there is no error."""
        ...

    def exists(self, key: BodyKey) -> bool:
        """Tell whether there is a text."""
        ...

    def list(self, agent_id: str) -> Iterator[BodyKey]:
        """Yield the keys of all texts of an agent, in any order."""
        ...
