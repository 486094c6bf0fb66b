"""Two stores at once: one that is written, and another that is read as well (P14)."""

from __future__ import annotations

from collections.abc import Iterator

from memci.errors import NotFoundError
from memci.storage.page_store.port import BodyKey, PageStore, joined
from memci.storage.session import Connection


class MovingPageStore:
    """What a process works with while texts move from one store to another.

    New texts go into ``now``; reads look there and then into ``also``, so that it does not matter
    who has been told already which of the two is the new one.
    """

    def __init__(self, now: PageStore, also: PageStore, *, anew: PageStore | None = None) -> None:
        """Take both; ``anew`` is ``now`` as it can be asked once more, outside a transaction."""
        self._now = now
        self._also = also
        self._anew = anew or now

    def joined(self, connection: Connection) -> MovingPageStore:
        """Do as ``JoinsTransactions.joined``."""
        return MovingPageStore(
            joined(self._now, connection), joined(self._also, connection), anew=self._anew
        )

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        self._now.save(key, text)

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``."""
        for store in (self._now, self._also):
            try:
                return store.load(key)
            except NotFoundError:
                continue
        # It was moved between the two looks. A snapshot of the database is older than that.
        return self._anew.load(key)

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``.

        In this order: what copies a text looks, once the copy is there, whether it is still
        wanted (``migrate``), and so sees that it is not, or has its copy removed here.
        """
        self._also.delete(key)
        self._now.delete(key)

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        return self._now.exists(key) or self._also.exists(key) or self._anew.exists(key)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``. The age of what is in both is that of either."""
        listed = dict.fromkeys(self._also.list(agent_id, older_s=older_s))
        listed.update(dict.fromkeys(self._now.list(agent_id, older_s=older_s)))
        return iter(listed)
