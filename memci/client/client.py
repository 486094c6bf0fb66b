"""The client: verbs run on the caller's thread, or, as ``.aio``, on asyncio."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import cached_property, wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from memci.client.flow import Flow, Retries
from memci.client.transport import AsyncTransport, Transport
from memci.client.verbs import AgentVerbs, Habits, ServiceVerbs
from memci.client.way import check_url, headers_for

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)

_URL = "http://127.0.0.1:8000"


class _Sync(Protocol[V_co]):
    """Something with verbs, and a transport that blocks."""

    @property
    def _verbs(self) -> V_co: ...

    @property
    def _transport(self) -> Transport: ...


class _Async(Protocol[V_co]):
    """Something with verbs, and a transport for asyncio."""

    @property
    def _verbs(self) -> V_co: ...

    @property
    def _transport(self) -> AsyncTransport: ...


def _blocking(
    verb: Callable[Concatenate[V, P], Flow[T]],
) -> Callable[Concatenate[_Sync[V], P], T]:
    @wraps(verb)
    def method(self: _Sync[V], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._transport.run(verb(self._verbs, *args, **kwargs))

    return method


def _awaitable(
    verb: Callable[Concatenate[V, P], Flow[T]],
) -> Callable[Concatenate[_Async[V], P], Coroutine[Any, Any, T]]:
    @wraps(verb)
    def method(self: _Async[V], /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._transport.run(verb(self._verbs, *args, **kwargs))

    return method


class Agent:
    """The memory of one agent."""

    def __init__(self, verbs: AgentVerbs, transport: Transport) -> None:
        """Use ``Memci.agent`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"Agent({self._verbs.id!r})"

    remember = _blocking(AgentVerbs.remember)
    record = _blocking(AgentVerbs.record)
    compress = _blocking(AgentVerbs.compress)
    recall = _blocking(AgentVerbs.recall)
    recall_text = _blocking(AgentVerbs.recall_text)
    search = _blocking(AgentVerbs.search)
    context = _blocking(AgentVerbs.context)
    about = _blocking(AgentVerbs.about)
    messages = _blocking(AgentVerbs.messages)
    nodes = _blocking(AgentVerbs.nodes)
    node = _blocking(AgentVerbs.node)
    trail = _blocking(AgentVerbs.trail)
    history = _blocking(AgentVerbs.history)
    sessions = _blocking(AgentVerbs.sessions)
    end_session = _blocking(AgentVerbs.end_session)
    consolidate = _blocking(AgentVerbs.consolidate)
    links = _blocking(AgentVerbs.links)
    focus = _blocking(AgentVerbs.focus)
    mention = _blocking(AgentVerbs.mention)
    restore = _blocking(AgentVerbs.restore)
    rebuild = _blocking(AgentVerbs.rebuild)
    rebuilt = _blocking(AgentVerbs.rebuilt)
    compare_rebuilt = _blocking(AgentVerbs.compare_rebuilt)
    switch_rebuilt = _blocking(AgentVerbs.switch_rebuilt)
    drop_rebuilt = _blocking(AgentVerbs.drop_rebuilt)
    network = _blocking(AgentVerbs.network)
    passes = _blocking(AgentVerbs.passes)
    fading = _blocking(AgentVerbs.fading)
    receipt = _blocking(AgentVerbs.receipt)
    settings = _blocking(AgentVerbs.settings)
    usage = _blocking(AgentVerbs.usage)
    configure = _blocking(AgentVerbs.configure)
    jobs = _blocking(AgentVerbs.jobs)
    job = _blocking(AgentVerbs.job)
    cancel = _blocking(AgentVerbs.cancel)
    replay = _blocking(AgentVerbs.replay)
    discard = _blocking(AgentVerbs.discard)
    preview_erasure = _blocking(AgentVerbs.preview_erasure)
    erase = _blocking(AgentVerbs.erase)
    erase_agent = _blocking(AgentVerbs.erase_agent)
    export = _blocking(AgentVerbs.export)
    import_ = _blocking(AgentVerbs.import_)
    pause = _blocking(AgentVerbs.pause)
    cancel_compression = _blocking(AgentVerbs.cancel_compression)
    resume = _blocking(AgentVerbs.resume)
    wait = _blocking(AgentVerbs.wait)
    wait_rebuilt = _blocking(AgentVerbs.wait_rebuilt)
    wait_idle = _blocking(AgentVerbs.wait_idle)
    window = _blocking(AgentVerbs.window)
    call_tool = _blocking(AgentVerbs.call_tool)


class AsyncAgent:
    """The memory of one agent, for asyncio."""

    def __init__(self, verbs: AgentVerbs, transport: AsyncTransport) -> None:
        """Use ``Memci.aio.agent`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"AsyncAgent({self._verbs.id!r})"

    remember = _awaitable(AgentVerbs.remember)
    record = _awaitable(AgentVerbs.record)
    compress = _awaitable(AgentVerbs.compress)
    recall = _awaitable(AgentVerbs.recall)
    recall_text = _awaitable(AgentVerbs.recall_text)
    search = _awaitable(AgentVerbs.search)
    context = _awaitable(AgentVerbs.context)
    about = _awaitable(AgentVerbs.about)
    messages = _awaitable(AgentVerbs.messages)
    nodes = _awaitable(AgentVerbs.nodes)
    node = _awaitable(AgentVerbs.node)
    trail = _awaitable(AgentVerbs.trail)
    history = _awaitable(AgentVerbs.history)
    sessions = _awaitable(AgentVerbs.sessions)
    end_session = _awaitable(AgentVerbs.end_session)
    consolidate = _awaitable(AgentVerbs.consolidate)
    links = _awaitable(AgentVerbs.links)
    focus = _awaitable(AgentVerbs.focus)
    mention = _awaitable(AgentVerbs.mention)
    restore = _awaitable(AgentVerbs.restore)
    rebuild = _awaitable(AgentVerbs.rebuild)
    rebuilt = _awaitable(AgentVerbs.rebuilt)
    compare_rebuilt = _awaitable(AgentVerbs.compare_rebuilt)
    switch_rebuilt = _awaitable(AgentVerbs.switch_rebuilt)
    drop_rebuilt = _awaitable(AgentVerbs.drop_rebuilt)
    network = _awaitable(AgentVerbs.network)
    passes = _awaitable(AgentVerbs.passes)
    fading = _awaitable(AgentVerbs.fading)
    receipt = _awaitable(AgentVerbs.receipt)
    settings = _awaitable(AgentVerbs.settings)
    usage = _awaitable(AgentVerbs.usage)
    configure = _awaitable(AgentVerbs.configure)
    jobs = _awaitable(AgentVerbs.jobs)
    job = _awaitable(AgentVerbs.job)
    cancel = _awaitable(AgentVerbs.cancel)
    replay = _awaitable(AgentVerbs.replay)
    discard = _awaitable(AgentVerbs.discard)
    preview_erasure = _awaitable(AgentVerbs.preview_erasure)
    erase = _awaitable(AgentVerbs.erase)
    erase_agent = _awaitable(AgentVerbs.erase_agent)
    export = _awaitable(AgentVerbs.export)
    import_ = _awaitable(AgentVerbs.import_)
    pause = _awaitable(AgentVerbs.pause)
    cancel_compression = _awaitable(AgentVerbs.cancel_compression)
    resume = _awaitable(AgentVerbs.resume)
    wait = _awaitable(AgentVerbs.wait)
    wait_rebuilt = _awaitable(AgentVerbs.wait_rebuilt)
    wait_idle = _awaitable(AgentVerbs.wait_idle)
    window = _awaitable(AgentVerbs.window)
    call_tool = _awaitable(AgentVerbs.call_tool)


@dataclass(frozen=True, slots=True)
class _Server:
    """Where a server is, and how it is spoken with."""

    url: str
    headers: dict[str, str] = field(repr=False)  # the key is in them
    timeout_s: float
    habits: Habits

    @classmethod
    def of(
        cls,
        url: str,
        api_key: str | None,
        timeout_s: float,
        wait_ms: int,
        retries: Retries | None,
    ) -> Self:
        habits = Habits(wait_ms=wait_ms, retries=retries or Retries())
        return cls(check_url(url), headers_for(api_key), timeout_s, habits)


class AsyncMemci:
    """A memci server, for asyncio: ``Memci`` with verbs to be awaited."""

    def __init__(
        self,
        url: str = _URL,
        *,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        wait_ms: int = 2_000,
        retries: Retries | None = None,
    ) -> None:
        """Take what ``Memci`` takes."""
        self._take(_Server.of(url, api_key, timeout_s, wait_ms, retries))

    @classmethod
    def _beside(cls, server: _Server) -> Self:
        """Return one that knows what another client of this server has written."""
        made = cls.__new__(cls)
        made._take(server)  # noqa: SLF001 - its own class
        return made

    def _take(self, server: _Server) -> None:
        self._server = server
        self._habits = server.habits
        self._verbs = ServiceVerbs(server.habits)
        self._transport = AsyncTransport(server.url, server.headers, server.timeout_s)

    def __repr__(self) -> str:
        return f"AsyncMemci({self._server.url!r})"

    def agent(self, agent_id: str) -> AsyncAgent:
        """Return one agent's memory; asks nothing yet."""
        return AsyncAgent(AgentVerbs(agent_id, self._habits), self._transport)

    agents = _awaitable(ServiceVerbs.agents)
    ready = _awaitable(ServiceVerbs.ready)
    tools = _awaitable(ServiceVerbs.tools)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class Memci:
    """A memci server.

    Requests that are turned away with 429 or 503, and those that get no answer, are sent again
    a few times where that does no harm. Errors are those of ``memci.errors``.
    """

    def __init__(
        self,
        url: str = _URL,
        *,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        wait_ms: int = 2_000,
        retries: Retries | None = None,
    ) -> None:
        """Take where the server is; connects when first used.

        A read waits up to ``wait_ms`` until memory has caught up with what this client wrote.
        Raises ``InvalidInputError`` for an address or a key that no request could be made with.
        """
        self._server = _Server.of(url, api_key, timeout_s, wait_ms, retries)
        self._habits = self._server.habits
        self._verbs = ServiceVerbs(self._habits)
        self._transport = Transport(url, self._server.headers, timeout_s)

    @cached_property
    def aio(self) -> AsyncMemci:
        """The same server for asyncio; close it apart."""
        return AsyncMemci._beside(self._server)  # noqa: SLF001 - for nobody but this class

    def __repr__(self) -> str:
        return f"Memci({self._server.url!r})"

    def agent(self, agent_id: str) -> Agent:
        """Return one agent's memory; asks nothing yet."""
        return Agent(AgentVerbs(agent_id, self._habits), self._transport)

    agents = _blocking(ServiceVerbs.agents)
    ready = _blocking(ServiceVerbs.ready)
    tools = _blocking(ServiceVerbs.tools)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
