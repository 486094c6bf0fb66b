"""The Python client: for threads, and as ``.aio`` for asyncio."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack
from urllib.parse import quote

from pydantic import RootModel

from memci.client.administration import AdministrationMethods
from memci.client.agent_state import InspectionMethods, JobMethods
from memci.client.documents import DocumentMethods
from memci.client.edits import EditMethods
from memci.client.keyword_arguments import (
    AppendOptions,
    ContextOptions,
    Messages,
    Page,
    SearchOptions,
)
from memci.client.local import LocalServer, start_local
from memci.client.memory import MemoryMethods, RebuildMethods, TransferMethods
from memci.client.method import ClientOptions, TransportT, explaining, method
from memci.client.page_operations import PageOperations
from memci.client.pages import PageMethods
from memci.client.requests import ClientRequest, Flow, Retries, check_url, fetch, headers_for
from memci.client.transport import AsyncTransport, Transport
from memci.client.webhooks import WebhookMethods
from memci.domain.agent_id import check_agent_id
from memci.domain.documents import collection_owner
from memci.message import Remember
from memci.schemas.agents import AgentList, ReadyAnswer
from memci.schemas.documents import CollectionList
from memci.schemas.messages import AppendAnswer
from memci.schemas.reads import ContextAnswer, SearchAnswer
from memci.schemas.tools.format_names import ToolFormat

_URL = "http://127.0.0.1:8000"
# Of the methods that take a user instead of an agent.
DEFAULT_AGENT = "default"


class CollectionMethods(DocumentMethods[TransportT]):
    """Methods of one collection; its first document creates it."""

    def __init__(self, name: str, options: ClientOptions, transport: TransportT) -> None:
        """Raise ``InvalidInputError`` for a name that is none."""
        collection_owner(name)
        super().__init__(name, f"/v1/collections/{quote(name, safe='')}", options, transport)


class Collection(CollectionMethods[Transport]):
    """One collection of documents."""


class AsyncCollection(CollectionMethods[AsyncTransport]):
    """One collection of documents, for asyncio."""


# Methods of mem0, and the method of an agent that does the same.
_OTHER_WORDS = {
    "delete": "delete_memory",
    "delete_all": "erase",
    "get": "node",
    "get_all": "nodes",
    "update": "correct_memory",
}


class _Hints:
    """Names the method to use where there is none of a name."""

    if not TYPE_CHECKING:  # type checkers know all attributes

        def __getattr__(self, name: str) -> Any:
            """Raise ``AttributeError`` that names the method of an agent, if it is one."""
            own = _OTHER_WORDS.get(name, name)
            of_server = f"an agent has: .agent({DEFAULT_AGENT!r})."
            advice = ("use ." if isinstance(self, AgentMethods) else of_server) + f"{own}()"
            raise AttributeError(
                f"{type(self).__name__} has no {name}"
                + (f"; {advice}" if hasattr(AgentMethods, own) else ""),
                name=name,
                obj=self,
            )


def _of(user: str | None) -> AppendOptions:
    return {} if user is None else {"user_id": user}


class AgentMethods(
    MemoryMethods[TransportT],
    EditMethods[TransportT],
    InspectionMethods[TransportT],
    RebuildMethods[TransportT],
    JobMethods[TransportT],
    PageMethods[TransportT],
    PageOperations[TransportT],
    TransferMethods[TransportT],
    DocumentMethods[TransportT],
    _Hints,
):
    """Methods of one agent."""

    def __init__(self, agent_id: str, options: ClientOptions, transport: TransportT) -> None:
        """Raise ``InvalidInputError`` for an id that is none."""
        check_agent_id(agent_id)
        super().__init__(agent_id, f"/v1/agents/{quote(agent_id, safe='')}", options, transport)


class Agent(AgentMethods[Transport]):
    """The memory of one agent, and its pages."""


class AsyncAgent(AgentMethods[AsyncTransport]):
    """The memory of one agent, and its pages, for asyncio."""


class _ToolList(RootModel[list[dict[str, Any]]]):
    """Tools in the format of a provider."""


class ServerMethods(AdministrationMethods[TransportT], WebhookMethods[TransportT], _Hints):
    """Methods of a server."""

    _transport_type: type[TransportT]

    @explaining
    def __init__(
        self,
        url: str = _URL,
        *,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        wait_ms: int = 2_000,
        retries: Retries | None = None,
    ) -> None:
        """Take the address of the server; connects when first used.

        A read waits up to ``wait_ms`` until memory has caught up with what this client wrote.
        Raises ``InvalidInputError`` for an address or a key that no request could be made with.
        """
        options = ClientOptions(wait_ms=wait_ms, retries=retries or Retries())
        self._connection = (check_url(url), headers_for(api_key), timeout_s)
        super().__init__(url, "", options, self._transport_type(*self._connection))

    @method
    def agents(self, **page: Unpack[Page]) -> Flow[AgentList]:
        """List the agents that the key is for, by id."""
        return self._get("/v1/agents", AgentList, page)

    @method
    def collections(self, **page: Unpack[Page]) -> Flow[CollectionList]:
        """List the collections that the key is for, by name."""
        return self._get("/v1/collections", CollectionList, page)

    @method
    def ready(self) -> Flow[ReadyAnswer]:
        """Return the state of the server's parts, or raise ``UnavailableError`` at once."""
        return fetch(ClientRequest("GET", "/readyz"), ReadyAnswer, Retries(attempts=1))

    @method
    def tools(
        self,
        format: ToolFormat | str = ToolFormat.OPENAI,  # noqa: A002 - the word of the surface
    ) -> Flow[list[dict[str, Any]]]:
        """Return the tools that the key may use, to hand to a model's provider as they are.

        ``format`` is ``openai``, ``responses``, ``anthropic`` or ``mcp``.
        """
        tools = yield from self._get("/v1/tools", _ToolList, {"format": str(format)})
        return tools.root

    @method
    def add(
        self,
        messages: Messages,
        *,
        user: str | None = None,
        agent: str = DEFAULT_AGENT,
        **options: Unpack[AppendOptions],
    ) -> Flow[AppendAnswer]:
        """Store messages of a user, and make memories of them now."""
        memory = self._memory(agent)
        return memory._append(messages, Remember.NOW, {**options, **_of(user)})  # noqa: SLF001

    @method
    def search(
        self,
        query: str,
        *,
        user: str | None = None,
        agent: str = DEFAULT_AGENT,
        **options: Unpack[SearchOptions],
    ) -> Flow[SearchAnswer]:
        """Search what a user may see, by meaning and by words."""
        memory = self._memory(agent)
        own = {**options, **_of(user)}
        return memory._read("/search", SearchAnswer, own, query=query)  # noqa: SLF001

    @method
    def context(
        self,
        query: str | None = None,
        *,
        user: str | None = None,
        agent: str = DEFAULT_AGENT,
        **options: Unpack[ContextOptions],
    ) -> Flow[ContextAnswer]:
        """Assemble the messages that a model should see, within ``budget_tokens``."""
        memory = self._memory(agent)
        own = {**options, **_of(user)}
        return memory._read("/context", ContextAnswer, own, query=query)  # noqa: SLF001

    def _memory(self, agent: str) -> MemoryMethods[TransportT]:
        return AgentMethods(agent, self._options, self._transport)


class AsyncMemci(ServerMethods[AsyncTransport]):
    """A memci server, for asyncio: ``Memci`` with methods to be awaited."""

    _transport_type = AsyncTransport

    def agent(self, agent_id: str) -> AsyncAgent:
        """Return the memory of one agent; sends nothing yet."""
        return AsyncAgent(agent_id, self._options, self._transport)

    def collection(self, name: str) -> AsyncCollection:
        """Return one collection of documents; sends nothing yet."""
        return AsyncCollection(name, self._options, self._transport)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Memci(ServerMethods[Transport]):
    """A memci server.

    Requests that are rejected with 429 or 503, and those without an answer, are sent again
    a few times where that does no harm. Errors are those of ``memci.errors``.
    """

    _transport_type = Transport
    _local: LocalServer | None = None

    @classmethod
    def local(cls, data_dir: Path | str | None = None, **options: Any) -> Self:
        """Run memci in the background of this program, and return its client.

        Programs with the same data folder share one server. It stops some seconds after the last
        of them has ended or closed its client; the data stays. ``data_dir``: none is that of the
        settings, MEMCI_DATA_DIR. ``options``: as of ``Memci``. Raises ``ConfigurationError`` if it
        does not start.
        """
        server = start_local(data_dir)
        options = {"api_key": server.api_key, **options}
        memci = cls(server.url, **options)
        memci._local = server
        return memci

    @cached_property
    def aio(self) -> AsyncMemci:
        """The same server for asyncio, which waits for writes of both; close it apart."""
        aio = AsyncMemci(self.id)
        aio._options = self._options  # noqa: SLF001 - both share what they have written
        aio._transport = AsyncTransport(*self._connection)  # noqa: SLF001 - as above
        return aio

    def agent(self, agent_id: str) -> Agent:
        """Return the memory of one agent; sends nothing yet."""
        return Agent(agent_id, self._options, self._transport)

    def collection(self, name: str) -> Collection:
        """Return one collection of documents; sends nothing yet."""
        return Collection(name, self._options, self._transport)

    def close(self) -> None:
        """Close the connections; a local server may stop."""
        self._transport.close()
        if self._local is not None:
            self._local.in_use.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
