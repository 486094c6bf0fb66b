"""The two colours of methods that a verb is made into."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from memci.client.flow import Flow
from memci.client.help import show_options
from memci.client.transport import AsyncTransport, Transport

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


class Sync(Protocol[V_co]):
    """Something with verbs, and a transport that blocks."""

    @property
    def _verbs(self) -> V_co: ...

    @property
    def _transport(self) -> Transport: ...


class Async(Protocol[V_co]):
    """Something with verbs, and a transport for asyncio."""

    @property
    def _verbs(self) -> V_co: ...

    @property
    def _transport(self) -> AsyncTransport: ...


def blocking(
    verb: Callable[Concatenate[V, P], Flow[T]],
) -> Callable[Concatenate[Sync[V], P], T]:
    """Have a verb run on the caller's thread."""

    @wraps(verb)
    def method(self: Sync[V], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._transport.run(verb(self._verbs, *args, **kwargs))

    show_options(method, verb)
    return method


def awaitable(
    verb: Callable[Concatenate[V, P], Flow[T]],
) -> Callable[Concatenate[Async[V], P], Coroutine[Any, Any, T]]:
    """Have a verb run on asyncio."""

    @wraps(verb)
    def method(self: Async[V], /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._transport.run(verb(self._verbs, *args, **kwargs))

    show_options(method, verb)
    return method
