"""Move the texts of notes from one page store to another while both are in use (P14)."""

from collections.abc import Callable
from dataclasses import dataclass

from memci.errors import NotFoundError, PageStoreError
from memci.storage.page_store.named_texts import all_agents, note_keys
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.page_store.wrappers import MovingPageStore
from memci.storage.session import Database


@dataclass
class TextCounts:
    """Counts of visited agents, and of texts by result."""

    agents: int = 0
    copied: int = 0
    present: int = 0  # in the target before
    cleared: int = 0  # from the source
    missing: int = 0  # pages refer to them, and neither store has them


@dataclass(frozen=True, slots=True)
class TextMigration:
    """Copies texts that one store has and another lacks.

    Other processes write into ``target`` and read both (``MovingPageStore``). A run may be ended at
    any moment and begun again: it skips texts that are present.
    """

    database: Database
    source: PageStore
    target: PageStore

    def run(self, *, clear: bool, report: Callable[[TextCounts], None]) -> TextCounts:
        """Copy all texts; ``report`` is called after each agent.

        With ``clear`` each text is deleted from the source after the target returned the same text.
        Raises ``PageStoreError`` when a store does not answer.
        """
        counts = TextCounts()
        for agent_id in all_agents(self.database):
            keys = list(self.source.list(agent_id))
            present = set(self.target.list(agent_id)) if keys else set()
            counts.present += len(present & set(keys))
            for key in keys:
                counts.copied += key not in present and self._copy(key)
                counts.cleared += clear and self._clear(key)
            counts.missing += self._count_missing(agent_id)
            counts.agents += 1
            report(counts)
        return counts

    def _count_missing(self, agent_id: str) -> int:
        """Count the texts that an agent's pages refer to, and that cannot be read anywhere."""
        with self.database.agent_snapshot(agent_id) as connection:
            keys = set(note_keys(connection, agent_id))
        unknown = list(keys - set(self.target.list(agent_id))) if keys else []
        return len(unknown) - len(MovingPageStore(self.target, self.source).load_many(unknown))

    def _copy(self, key: TextKey) -> bool:
        try:
            text = self.source.load(key)
        except NotFoundError:
            return False  # it was erased since it was listed
        self.target.save(key, text)
        # An erasure removes it from the source first and then from the target: either we see that
        # here, or our copy is removed there.
        if self.source.exists(key):
            return True
        self.target.delete(key)
        return False

    def _clear(self, key: TextKey) -> bool:
        try:
            text = self.source.load(key)
        except NotFoundError:
            return False
        try:
            copy = self.target.load(key)
        except NotFoundError:
            if not self.source.exists(key):
                return False  # it was erased meanwhile, from both
            copy = ""
        if copy != text:
            raise PageStoreError(
                f"the copy of page {key.page} of agent {key.agent_id} differs from its source: that"
                " text and the following ones were not removed from the source"
            )
        self.source.delete(key)
        return True
