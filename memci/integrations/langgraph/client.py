"""How flows of the client run for a framework, which asks both from threads and from asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from memci.client import Agent, AsyncAgent
from memci.client.exchange import Flow
from memci.client.verbs.agent_requests import Asking, Habits
from memci.errors import MemciError

T = TypeVar("T")
V = TypeVar("V", bound=Asking)


class Way:
    """Runs flows for one agent: on the caller's thread, or on asyncio.

    With an ``Agent`` asyncio waits for a thread, so that any event loop will do. With an
    ``AsyncAgent`` nothing needs a thread, and only that one's event loop may ask.
    """

    def __init__(self, agent: Agent | AsyncAgent) -> None:
        """Take whose way it is."""
        self._agent = agent

    def verbs(self, kind: Callable[[str, Habits], V]) -> V:
        """Return other verbs of the same agent."""
        own = self._agent._verbs  # noqa: SLF001 - the client's own room beside it
        return kind(own.id, own._habits)  # noqa: SLF001 - as above

    def run(self, flow: Flow[T]) -> T:
        """Do what a flow wants; raises ``MemciError`` where only asyncio may ask."""
        if isinstance(self._agent, AsyncAgent):
            raise MemciError(
                "this store or saver was made of an AsyncAgent and can only be awaited; make it of "
                "Memci(…).agent(…), which does for both"
            )
        return self._agent._transport.run(flow)  # noqa: SLF001 - as above

    async def arun(self, flow: Flow[T]) -> T:
        """Do what a flow wants, on asyncio."""
        if isinstance(self._agent, AsyncAgent):
            return await self._agent._transport.run(flow)  # noqa: SLF001 - as above
        return await asyncio.to_thread(self._agent._transport.run, flow)  # noqa: SLF001 - as above
