"""The Python client: each method runs on the caller's thread or, as ``.aio``, on asyncio."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Self

from memci.client.exchange import Retries, check_url, headers_for
from memci.client.paging import AsyncPageOperations, PageOperations
from memci.client.sync_async import awaitable, blocking
from memci.client.transport import AsyncTransport, Transport
from memci.client.verbs import AgentVerbs, CollectionVerbs, Habits, ServiceVerbs


class Collection:
    """One collection; it begins with its first document."""

    def __init__(self, verbs: CollectionVerbs, transport: Transport) -> None:
        """Use ``Memci.collection`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"Collection({self._verbs.id!r})"

    add_document = blocking(CollectionVerbs.add_document)
    add_file = blocking(CollectionVerbs.add_file)
    documents = blocking(CollectionVerbs.documents)
    document = blocking(CollectionVerbs.document)
    remove_document = blocking(CollectionVerbs.remove_document)
    remove_documents = blocking(CollectionVerbs.remove_documents)
    wait_document = blocking(CollectionVerbs.wait_document)


class AsyncCollection:
    """One collection, for asyncio."""

    def __init__(self, verbs: CollectionVerbs, transport: AsyncTransport) -> None:
        """Use ``Memci.aio.collection`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"AsyncCollection({self._verbs.id!r})"

    add_document = awaitable(CollectionVerbs.add_document)
    add_file = awaitable(CollectionVerbs.add_file)
    documents = awaitable(CollectionVerbs.documents)
    document = awaitable(CollectionVerbs.document)
    remove_document = awaitable(CollectionVerbs.remove_document)
    remove_documents = awaitable(CollectionVerbs.remove_documents)
    wait_document = awaitable(CollectionVerbs.wait_document)


_URL = "http://127.0.0.1:8000"


class Agent(PageOperations):
    """The memory of one agent, and its pages."""

    def __init__(self, verbs: AgentVerbs, transport: Transport) -> None:
        """Use ``Memci.agent`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"Agent({self._verbs.id!r})"

    remember = blocking(AgentVerbs.remember)
    record = blocking(AgentVerbs.record)
    compress = blocking(AgentVerbs.compress)
    recall = blocking(AgentVerbs.recall)
    recall_text = blocking(AgentVerbs.recall_text)
    search = blocking(AgentVerbs.search)
    context = blocking(AgentVerbs.context)
    handover = blocking(AgentVerbs.handover)
    window = blocking(AgentVerbs.window)
    call_tool = blocking(AgentVerbs.call_tool)
    attp = blocking(AgentVerbs.attp)
    pages = blocking(AgentVerbs.pages)
    page = blocking(AgentVerbs.page)
    pins = blocking(AgentVerbs.pins)
    plan = blocking(AgentVerbs.plan)
    update_plan = blocking(AgentVerbs.update_plan)
    about = blocking(AgentVerbs.about)
    messages = blocking(AgentVerbs.messages)
    nodes = blocking(AgentVerbs.nodes)
    node = blocking(AgentVerbs.node)
    trail = blocking(AgentVerbs.trail)
    history = blocking(AgentVerbs.history)
    sessions = blocking(AgentVerbs.sessions)
    summaries = blocking(AgentVerbs.summaries)
    end_session = blocking(AgentVerbs.end_session)
    consolidate = blocking(AgentVerbs.consolidate)
    links = blocking(AgentVerbs.links)
    focus = blocking(AgentVerbs.focus)
    mention = blocking(AgentVerbs.mention)
    restore = blocking(AgentVerbs.restore)
    rebuild = blocking(AgentVerbs.rebuild)
    rebuilt = blocking(AgentVerbs.rebuilt)
    compare_rebuilt = blocking(AgentVerbs.compare_rebuilt)
    switch_rebuilt = blocking(AgentVerbs.switch_rebuilt)
    drop_rebuilt = blocking(AgentVerbs.drop_rebuilt)
    network = blocking(AgentVerbs.network)
    passes = blocking(AgentVerbs.passes)
    fading = blocking(AgentVerbs.fading)
    receipt = blocking(AgentVerbs.receipt)
    settings = blocking(AgentVerbs.settings)
    usage = blocking(AgentVerbs.usage)
    configure = blocking(AgentVerbs.configure)
    jobs = blocking(AgentVerbs.jobs)
    job = blocking(AgentVerbs.job)
    cancel = blocking(AgentVerbs.cancel)
    replay = blocking(AgentVerbs.replay)
    discard = blocking(AgentVerbs.discard)
    preview_erasure = blocking(AgentVerbs.preview_erasure)
    erase = blocking(AgentVerbs.erase)
    erase_agent = blocking(AgentVerbs.erase_agent)
    export = blocking(AgentVerbs.export)
    import_ = blocking(AgentVerbs.import_)
    add_document = blocking(AgentVerbs.add_document)
    add_file = blocking(AgentVerbs.add_file)
    documents = blocking(AgentVerbs.documents)
    document = blocking(AgentVerbs.document)
    remove_document = blocking(AgentVerbs.remove_document)
    remove_documents = blocking(AgentVerbs.remove_documents)
    wait_document = blocking(AgentVerbs.wait_document)
    pause = blocking(AgentVerbs.pause)
    cancel_compression = blocking(AgentVerbs.cancel_compression)
    resume = blocking(AgentVerbs.resume)
    wait = blocking(AgentVerbs.wait)
    wait_rebuilt = blocking(AgentVerbs.wait_rebuilt)
    wait_idle = blocking(AgentVerbs.wait_idle)


class AsyncAgent(AsyncPageOperations):
    """The memory of one agent, and its pages, for asyncio."""

    def __init__(self, verbs: AgentVerbs, transport: AsyncTransport) -> None:
        """Use ``Memci.aio.agent`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"AsyncAgent({self._verbs.id!r})"

    remember = awaitable(AgentVerbs.remember)
    record = awaitable(AgentVerbs.record)
    compress = awaitable(AgentVerbs.compress)
    recall = awaitable(AgentVerbs.recall)
    recall_text = awaitable(AgentVerbs.recall_text)
    search = awaitable(AgentVerbs.search)
    context = awaitable(AgentVerbs.context)
    handover = awaitable(AgentVerbs.handover)
    window = awaitable(AgentVerbs.window)
    call_tool = awaitable(AgentVerbs.call_tool)
    attp = awaitable(AgentVerbs.attp)
    pages = awaitable(AgentVerbs.pages)
    page = awaitable(AgentVerbs.page)
    pins = awaitable(AgentVerbs.pins)
    plan = awaitable(AgentVerbs.plan)
    update_plan = awaitable(AgentVerbs.update_plan)
    about = awaitable(AgentVerbs.about)
    messages = awaitable(AgentVerbs.messages)
    nodes = awaitable(AgentVerbs.nodes)
    node = awaitable(AgentVerbs.node)
    trail = awaitable(AgentVerbs.trail)
    history = awaitable(AgentVerbs.history)
    sessions = awaitable(AgentVerbs.sessions)
    summaries = awaitable(AgentVerbs.summaries)
    end_session = awaitable(AgentVerbs.end_session)
    consolidate = awaitable(AgentVerbs.consolidate)
    links = awaitable(AgentVerbs.links)
    focus = awaitable(AgentVerbs.focus)
    mention = awaitable(AgentVerbs.mention)
    restore = awaitable(AgentVerbs.restore)
    rebuild = awaitable(AgentVerbs.rebuild)
    rebuilt = awaitable(AgentVerbs.rebuilt)
    compare_rebuilt = awaitable(AgentVerbs.compare_rebuilt)
    switch_rebuilt = awaitable(AgentVerbs.switch_rebuilt)
    drop_rebuilt = awaitable(AgentVerbs.drop_rebuilt)
    network = awaitable(AgentVerbs.network)
    passes = awaitable(AgentVerbs.passes)
    fading = awaitable(AgentVerbs.fading)
    receipt = awaitable(AgentVerbs.receipt)
    settings = awaitable(AgentVerbs.settings)
    usage = awaitable(AgentVerbs.usage)
    configure = awaitable(AgentVerbs.configure)
    jobs = awaitable(AgentVerbs.jobs)
    job = awaitable(AgentVerbs.job)
    cancel = awaitable(AgentVerbs.cancel)
    replay = awaitable(AgentVerbs.replay)
    discard = awaitable(AgentVerbs.discard)
    preview_erasure = awaitable(AgentVerbs.preview_erasure)
    erase = awaitable(AgentVerbs.erase)
    erase_agent = awaitable(AgentVerbs.erase_agent)
    export = awaitable(AgentVerbs.export)
    import_ = awaitable(AgentVerbs.import_)
    add_document = awaitable(AgentVerbs.add_document)
    add_file = awaitable(AgentVerbs.add_file)
    documents = awaitable(AgentVerbs.documents)
    document = awaitable(AgentVerbs.document)
    remove_document = awaitable(AgentVerbs.remove_document)
    remove_documents = awaitable(AgentVerbs.remove_documents)
    wait_document = awaitable(AgentVerbs.wait_document)
    pause = awaitable(AgentVerbs.pause)
    cancel_compression = awaitable(AgentVerbs.cancel_compression)
    resume = awaitable(AgentVerbs.resume)
    wait = awaitable(AgentVerbs.wait)
    wait_rebuilt = awaitable(AgentVerbs.wait_rebuilt)
    wait_idle = awaitable(AgentVerbs.wait_idle)


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

    def collection(self, name: str) -> AsyncCollection:
        """Return one collection of documents; asks nothing yet."""
        return AsyncCollection(CollectionVerbs(name, self._habits), self._transport)

    agents = awaitable(ServiceVerbs.agents)
    collections = awaitable(ServiceVerbs.collections)
    ready = awaitable(ServiceVerbs.ready)
    tools = awaitable(ServiceVerbs.tools)

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

    def collection(self, name: str) -> Collection:
        """Return one collection of documents; asks nothing yet."""
        return Collection(CollectionVerbs(name, self._habits), self._transport)

    agents = blocking(ServiceVerbs.agents)
    collections = blocking(ServiceVerbs.collections)
    ready = blocking(ServiceVerbs.ready)
    tools = blocking(ServiceVerbs.tools)

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
