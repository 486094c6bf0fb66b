"""What concerns no single agent."""

from __future__ import annotations

from typing import Any, Unpack

from pydantic import RootModel

from memci.client.exchange import Flow, Retries, ask, exchange
from memci.client.options import Page
from memci.client.verbs.agent_requests import Habits
from memci.schemas.agents import AgentList, ReadyAnswer
from memci.schemas.documents import CollectionList
from memci.schemas.tool_format import ToolFormat


class _Listed(RootModel[list[dict[str, Any]]]):
    """Tools, as a provider wants them."""


class ServiceVerbs:
    """Asks about the server."""

    def __init__(self, habits: Habits) -> None:
        """Take the client's habits."""
        self._retries = habits.retries

    def agents(self, **page: Unpack[Page]) -> Flow[AgentList]:
        """List the agents that the key is for, by id."""
        return ask(exchange("GET", "/v1/agents", params=page), AgentList, self._retries)

    def collections(self, **page: Unpack[Page]) -> Flow[CollectionList]:
        """List the collections that the key is for, by name."""
        return ask(exchange("GET", "/v1/collections", params=page), CollectionList, self._retries)

    def ready(self) -> Flow[ReadyAnswer]:
        """Return what the server is ready with, or raise ``UnavailableError`` at once."""
        return ask(exchange("GET", "/readyz"), ReadyAnswer, Retries(attempts=1))

    def tools(
        self,
        format: ToolFormat | str = ToolFormat.OPENAI,  # noqa: A002 - the word of the surface
    ) -> Flow[list[dict[str, Any]]]:
        """Return the tools that the key may use, to hand to a model's provider as they are.

        ``format`` is ``openai``, ``responses``, ``anthropic`` or ``mcp``.
        """
        request = exchange("GET", "/v1/tools", params={"format": str(format)})
        listed = yield from ask(request, _Listed, self._retries)
        return listed.root
