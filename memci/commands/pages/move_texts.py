"""Move the texts of notes from one page store to another while both are in use (P14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from memci.errors import NotFoundError, PageStoreError
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.page_store.wrappers import MovingPageStore
from memci.storage.pages.texts import all_agents
from memci.storage.pages.visible_pages import note_keys
from memci.storage.session import Database


@dataclass(frozen=True, slots=True)
class Moved:
    """How far it is: agents looked at, and texts copied, found there already, and cleared away.

    ``missing`` are texts that pages refer to and that neither store has.
    """

    agents: int = 0
    copied: int = 0
    there: int = 0
    cleared: int = 0
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Migration:
    """Copies what one store has and another lacks.

    Whoever works meanwhile writes into ``target`` and reads both (``MovingPageStore``). It may be
    ended at any moment and begun again: what is there already is passed over.
    """

    database: Database
    source: PageStore
    target: PageStore

    def agents(self) -> list[str]:
        """Return all agents that there are or were."""
        return list(all_agents(self.database))

    def run(self, *, clear: bool, told: Callable[[Moved], None]) -> Moved:
        """Copy all; ``told`` hears of each agent that is done.

        With ``clear`` a text goes from the source when it was read back from the target, word for
        word. Raises ``PageStoreError`` when one of the stores does not answer.
        """
        moved = Moved()
        for agent_id in all_agents(self.database):
            done = self._move(agent_id, clear=clear)
            moved = Moved(
                moved.agents + 1,
                moved.copied + done.copied,
                moved.there + done.there,
                moved.cleared + done.cleared,
                moved.missing + done.missing,
            )
            told(moved)
        return moved

    def _move(self, agent_id: str, *, clear: bool) -> Moved:
        keys = list(self.source.list(agent_id))
        there = set(self.target.list(agent_id)) if keys else set()
        done = Moved(there=len(there & set(keys)))
        for key in keys:
            if key not in there and self._copy(key):
                done = replace(done, copied=done.copied + 1)
            if clear and self._clear(key):
                done = replace(done, cleared=done.cleared + 1)
        return replace(done, missing=self._missing(agent_id))

    def _missing(self, agent_id: str) -> int:
        """Count the texts that an agent's pages refer to, and that cannot be read anywhere."""
        with self.database.agent_snapshot(agent_id) as connection:
            wanted = note_keys(connection, agent_id)
        there = set(self.target.list(agent_id)) if wanted else set()
        both = MovingPageStore(self.target, self.source)
        return sum(not _has(both, key) for key in wanted - there)

    def _copy(self, key: TextKey) -> bool:
        try:
            text = self.source.load(key)
        except NotFoundError:
            return False  # it was erased since it was listed
        self.target.save(key, text)
        # Who erases removes it from the source first and then from the target: either we see that
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
                f"the copy of page {key.page} of agent {key.agent_id} is not what it was made of;"
                " it was not cleared away, and neither was what comes after it"
            )
        self.source.delete(key)
        return True


def _has(store: PageStore, key: TextKey) -> bool:
    try:
        store.load(key)
    except NotFoundError:
        return False
    return True
