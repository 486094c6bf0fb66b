from __future__ import annotations

from collections.abc import Callable
from itertools import count

import httpx
import pytest

from tests.integration.http.conftest import one_server, serve
from tests.integration.http.serving import Served
from tests.support import mcp_clients

__all__ = ["one_server", "serve"]


_NUMBERS = count(1)


@pytest.fixture
def server(one_server: Served) -> Served:
    """One server for a module; each test uses its own agent."""
    return one_server


@pytest.fixture
def alice() -> str:
    return f"alice-{next(_NUMBERS)}"


@pytest.fixture
def say(server: Served) -> Callable[..., None]:
    """Return a function that stores messages of an agent."""

    def store(agent: str, *texts: str, session: str = "s1") -> None:
        roles = ("user", "assistant")
        messages = [
            {"role": roles[number % 2], "content": text} for number, text in enumerate(texts)
        ]
        body = {"messages": messages, "session_id": session, "remember": "never"}
        sent = httpx.post(f"{server.url}/v1/agents/{agent}/messages", json=body)
        assert sent.status_code == 202

    return store


@pytest.fixture(params=["http", "stdio"])
def connect(request: pytest.FixtureRequest) -> Callable[..., object]:
    """Return a function that connects a client; its tests run on both transports."""
    return {"http": mcp_clients.over_http, "stdio": mcp_clients.over_stdio}[request.param]
