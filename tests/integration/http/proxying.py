"""Helpers for chats through the proxy with a real client of OpenAI's API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openai import OpenAI

from memci.testing import wait_until
from tests.integration.http.serving import Served


@contextmanager
def chatting(server: Served, agent: str = "alice", **options: Any) -> Iterator[OpenAI]:
    """Lend a client whose base URL is the proxy's; it tries each request once."""
    options = {"api_key": "upstream-key", "max_retries": 0, "timeout": 20, **options}
    with OpenAI(base_url=f"{server.url}/proxy/{agent}/v1", **options) as client:
        yield client


def ask(client: OpenAI, *messages: dict[str, Any], **options: Any) -> Any:
    """Send these messages and return the answer."""
    return client.chat.completions.create(model="tiny", messages=list(messages), **options)


def event(delta: dict[str, Any], *, finish: str | None = None) -> bytes:
    """One event of a streamed answer."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "tiny",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def stored(server: Served, agent: str = "alice") -> list[tuple[str, str | None]]:
    """Role and content of an agent's messages, in order."""
    with server.runtime.database.agent_snapshot(agent) as connection:
        rows = connection.exec_driver_sql("SELECT role, content FROM message ORDER BY seq")
        return [(row[0], row[1]) for row in rows]


def recorded(server: Served, count: int, agent: str = "alice") -> list[tuple[str, str | None]]:
    """Wait until an agent has this many messages, and return them."""
    wait_until(lambda: len(stored(server, agent)) >= count, f"{count} messages are recorded")
    return stored(server, agent)
