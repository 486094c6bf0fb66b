"""Runs flows of the client for a framework, which calls from threads and from asyncio."""

import asyncio
from collections.abc import Mapping
from typing import Any, TypeVar

from memci.client import Agent, AsyncAgent
from memci.client.requests import AnswerT, Flow
from memci.errors import MemciError

T = TypeVar("T")


class FlowRunner:
    """Runs flows for one agent: on the caller's thread, or on asyncio.

    With an ``Agent``, asyncio waits for a thread, so that any event loop will do. With an
    ``AsyncAgent`` no thread is needed, and only its own event loop may call.
    """

    def __init__(self, agent: Agent | AsyncAgent) -> None:
        self._agent = agent

    def send(
        self, path: str, answer: type[AnswerT], body: Mapping[str, Any], method: str = "POST"
    ) -> Flow[AnswerT]:
        """Return the flow of one request below the agent's path."""
        # The client and this package belong together.
        return self._agent._fetch(method, path, answer, json=body)  # noqa: SLF001

    def run(self, flow: Flow[T]) -> T:
        """Run a flow; raises ``MemciError`` where only asyncio may call."""
        if isinstance(self._agent, AsyncAgent):
            raise MemciError(
                "this store or saver was made of an AsyncAgent and can only be awaited; make it of "
                "Memci(…).agent(…), which does for both"
            )
        return self._agent._transport.run(flow)  # noqa: SLF001

    async def arun(self, flow: Flow[T]) -> T:
        """Run a flow on asyncio."""
        if isinstance(self._agent, AsyncAgent):
            return await self._agent._transport.run(flow)  # noqa: SLF001
        return await asyncio.to_thread(self._agent._transport.run, flow)  # noqa: SLF001
