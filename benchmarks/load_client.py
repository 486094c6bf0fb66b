"""A light HTTP client with many connections, a process of its own: ``python -m … CONFIG``.

It writes prepared requests to bare sockets and reads only status and length of an answer, so that
the server is the bottleneck on a machine that both share. Prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from itertools import islice
from typing import Any

import uvloop

from benchmarks.sentences import conversation


@dataclass(frozen=True, slots=True)
class Load:
    """The requests to send, by default each to a new agent."""

    port: int
    connections: int
    requests: int
    messages: int
    prefix: str
    # Requests per second of all connections, evenly spread; 0: as fast as answers come.
    rate: float = 0.0
    agents: int = 0  # 0: one per request
    seed: int = 1


async def run(load: Load) -> dict[str, Any]:
    """Send all requests; return the seconds of all and the milliseconds of each answer."""
    bodies = _bodies(load)
    numbers = iter(range(load.requests))
    latencies_ms: list[float] = []
    began = time.perf_counter()

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", load.port)
        for number in numbers:
            if load.rate:
                await asyncio.sleep(began + number / load.rate - time.perf_counter())
            agent = f"{load.prefix}-{number % load.agents if load.agents else number}"
            body = bodies[number]
            sent = time.perf_counter()
            writer.write(post(f"/v1/agents/{agent}/messages", body))
            await answer(reader, 202)
            latencies_ms.append((time.perf_counter() - sent) * 1000)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(load.connections)))
    return {"seconds": time.perf_counter() - began, "latencies_ms": latencies_ms}


def _bodies(load: Load) -> list[bytes]:
    """Return the bodies, each with other messages, since vectors are cached."""
    messages = conversation(load.seed)
    return [
        json.dumps(
            {
                "messages": [
                    {"role": each.role, "content": each.content}
                    for each in islice(messages, load.messages)
                ]
            },
            ensure_ascii=False,
        ).encode()
        for _ in range(load.requests)
    ]


def post(path: str, body: bytes) -> bytes:
    """Return a request with JSON."""
    return (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode() + body


async def answer(reader: asyncio.StreamReader, status: int) -> None:
    """Read an answer; ``RuntimeError`` if it has another status."""
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(f"HTTP/1.1 {status}".encode()):
        raise RuntimeError(f"not answered as expected: {head!r}")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)


if __name__ == "__main__":
    print(json.dumps(uvloop.run(run(Load(**json.loads(sys.argv[1]))))))
