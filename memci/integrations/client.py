"""Runs flows of the client for a framework, which calls from threads and from asyncio."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from memci.client import Agent, AsyncAgent
from memci.client.requests import AnswerT, Flow
from memci.errors import MemciError
from memci.message import Remember
from memci.schemas.messages import AppendAnswer

T = TypeVar("T")
P = ParamSpec("P")


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

    def append(self, messages: Sequence[Mapping[str, Any]], options: Any) -> Flow[AppendAnswer]:
        """Return the flow that stores messages, and makes memories of them now."""
        return self._agent._append(messages, Remember.NOW, options)  # noqa: SLF001

    def read(
        self, path: str, answer: type[AnswerT], options: Mapping[str, Any], **body: Any
    ) -> Flow[AnswerT]:
        """Return the flow of a read, which waits for what this client has written."""
        return self._agent._read(path, answer, options, **body)  # noqa: SLF001

    def run(self, flow: Flow[T]) -> T:
        """Run a flow; raises ``MemciError`` where only asyncio may call."""
        if isinstance(self._agent, AsyncAgent):
            raise MemciError(
                "this was made of an AsyncAgent and can only be awaited; make it of "
                "Memci(…).agent(…), which does for both"
            )
        return self._agent._transport.run(flow)  # noqa: SLF001

    async def arun(self, flow: Flow[T]) -> T:
        """Run a flow on asyncio."""
        if isinstance(self._agent, AsyncAgent):
            return await self._agent._transport.run(flow)  # noqa: SLF001
        return await asyncio.to_thread(self._agent._transport.run, flow)  # noqa: SLF001


class RunsFlows(Protocol):
    """A part of a framework, for the two decorators."""

    _runner: FlowRunner


SelfT = TypeVar("SelfT", bound=RunsFlows)


def blocking(flow: Callable[Concatenate[SelfT, P], Flow[T]]) -> Callable[Concatenate[SelfT, P], T]:
    """Make a method that runs a flow on the caller's thread."""

    @wraps(flow)
    def run(self: SelfT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._runner.run(flow(self, *args, **kwargs))

    return run


def awaited(
    flow: Callable[Concatenate[SelfT, P], Flow[T]],
) -> Callable[Concatenate[SelfT, P], Coroutine[Any, Any, T]]:
    """Make a method that runs a flow on asyncio."""

    @wraps(flow)
    async def run(self: SelfT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._runner.arun(flow(self, *args, **kwargs))

    return run
