"""Two stores at once: one that is written, and another that is read as well (P14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memci.errors import NotFoundError
from memci.storage.page_store.port import (
    BodyKey,
    PageStore,
    delete_many,
    joined,
    load_many,
    no_text,
)
from memci.storage.session import Connection


class MovingPageStore:
    """What a process works with while texts move from one store to another.

    New texts go into ``now``; reads look there and then into ``also``, so that it does not matter
    who has been told already which of the two is the new one.
    """

    def __init__(
        self, now: PageStore, also: PageStore, *, whole: tuple[PageStore, PageStore] | None = None
    ) -> None:
        """Take both; ``whole`` are the same outside of any transaction."""
        self._now = now
        self._also = also
        self._whole = whole or (now, also)

    def joined(self, connection: Connection) -> MovingPageStore:
        """Do as ``JoinsTransactions.joined``."""
        return MovingPageStore(
            joined(self._now, connection), joined(self._also, connection), whole=self._whole
        )

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        self._now.save(key, text)

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``."""
        for store in self._looks():
            try:
                return store.load(key)
            except NotFoundError:
                continue
        raise no_text(key)

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``.

        In this order: what copies a text looks, once the copy is there, whether it is still
        wanted (``Migration``), and so sees that it is not, or has its copy removed here.
        """
        self._also.delete(key)
        self._now.delete(key)

    def load_many(self, keys: Sequence[BodyKey]) -> dict[BodyKey, str]:
        """Do as ``TakesMany.load_many``."""
        texts: dict[BodyKey, str] = {}
        for store in self._looks():
            missing = [key for key in keys if key not in texts]
            if not missing:
                break
            texts |= load_many(store, missing)
        return texts

    def delete_many(self, keys: Sequence[BodyKey]) -> None:
        """Do as ``TakesMany.delete_many``, in the order of ``delete``."""
        delete_many(self._also, keys)
        delete_many(self._now, keys)

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        return any(store.exists(key) for store in self._looks())

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``. The age of what is in both is that of either."""
        listed = dict.fromkeys(self._also.list(agent_id, older_s=older_s))
        listed.update(dict.fromkeys(self._now.list(agent_id, older_s=older_s)))
        return iter(listed)

    def _looks(self) -> Iterator[PageStore]:
        """Yield where to look, one after the other, until a text that is anywhere is found.

        It may have been moved since the first look: into ``now`` after that was looked at, or out
        of what a snapshot of the database does not show the copy of yet.
        """
        now, also = self._whole
        yield from (self._now, self._also, now, also, now)
