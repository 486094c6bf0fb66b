"""``MemciStore``: LangGraph's long-term memory, kept and searched by memci."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langgraph.store.base import BaseStore, Op, Result, TTLConfig

from memci.client import Agent, AsyncAgent
from memci.integrations.langgraph.store_verbs import StoreVerbs
from memci.integrations.langgraph.way import Way


class MemciStore(BaseStore):
    """Items of one agent, found by name, by value, by words and by meaning.

    Every item is searched by all texts of its value; ``fields`` names places instead, in
    LangGraph's own way of naming them, and ``put(…, index=…)`` says so for one item. Items with a
    ``ttl`` (minutes) are never shown after it; ``ttl`` is the store's own configuration.

    Given an ``AsyncAgent``, it can only be awaited. Raises the errors of ``memci.errors``.
    """

    supports_ttl = True
    __slots__ = ("_fields", "_way", "ttl_config")

    def __init__(
        self,
        agent: Agent | AsyncAgent,
        *,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
    ) -> None:
        """Take whose items they are; asks nothing yet."""
        self._way = Way(agent)
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all operations; of those that write, all or none take effect."""
        return self._way.run(self._way.verbs(StoreVerbs).batch(ops, self._fields))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all operations; of those that write, all or none take effect."""
        return await self._way.arun(self._way.verbs(StoreVerbs).batch(ops, self._fields))
