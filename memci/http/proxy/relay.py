"""Passes an answer on while it comes, and stops the upstream when its client has gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import httpx
from starlette.types import Receive, Send

from memci.http.proxy.headers import back
from memci.http.proxy.upstream import ERROR_BYTES, Upstream

STATE = "x-memci-memory"
_ERROR_FROM = 400


class Listener(Protocol):
    """Hears what passes; has_ended: a client waits for no more, whatever comes."""

    has_ended: bool

    def hear(self, chunk: bytes) -> None:
        """Take the next chunk, before it is passed on."""


async def _nothing() -> None:
    """Do nothing at the end."""


@dataclass
class Relay:
    """One answer under way.

    ``listener`` hears it; ``at_end`` is done when all of it was heard, before the last of it is
    passed on: what a client does next comes behind it. ``state`` is what the header
    ``X-Memci-Memory`` says, if anything. ``whole``: all was heard.
    """

    upstream: Upstream
    listener: Listener | None = None
    at_end: Callable[[], Awaitable[None]] = _nothing
    state: str | None = None
    status: int = 0
    whole: bool = False
    _opened: list[httpx.Response] = field(default_factory=list)

    async def run(
        self, ask: Callable[[], Awaitable[httpx.Response]], receive: Receive, send: Send
    ) -> None:
        """Ask the upstream and pass on its answer, as long as the client is there.

        Raises ``UnavailableError`` when there is no answer, and httpx's error when it ends in the
        middle: the server then cuts the connection, so that no half is taken for the whole.
        """

        async def work() -> None:
            response = await ask()
            self._opened.append(response)
            await self._pass_on(response, send)

        try:
            await _while_there(receive, work)
        finally:
            with anyio.CancelScope(shield=True):
                for response in self._opened:
                    await response.aclose()

    async def _pass_on(self, response: httpx.Response, send: Send) -> None:
        self.status = response.status_code
        is_error = self.status >= _ERROR_FROM
        response.headers.encoding = "latin-1"  # byte by byte, whatever they say
        headers = back(response.headers.multi_items())
        if is_error:
            headers = [each for each in headers if each[0] != "content-length"]
        if self.state is not None:
            headers.append((STATE, self.state))
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        if is_error:
            body = self.upstream.masked(await _short(response))
            raw.append((b"content-length", str(len(body)).encode()))
            await self._begin(send, raw)
            await send({"type": "http.response.body", "body": body})
            self.whole = True
            return
        await self._begin(send, raw)
        async for chunk in response.aiter_raw():
            if self._hears_the_end(response, chunk):
                await self._end()
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await self._end()
        await send({"type": "http.response.body", "body": b""})

    def _hears_the_end(self, response: httpx.Response, chunk: bytes) -> bool:
        """Hear a chunk; tell whether a client that gets it has all that it waits for."""
        if self.listener is not None:
            self.listener.hear(chunk)
            if self.listener.has_ended:
                return True
        length: str | None = response.headers.get("content-length")
        return length == str(response.num_bytes_downloaded)

    async def _end(self) -> None:
        if not self.whole:
            self.whole = True
            await self.at_end()

    async def _begin(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": headers})


async def _short(response: httpx.Response) -> bytes:
    """Read what an upstream says of an error; a long story is cut."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > ERROR_BYTES:
            break
    return bytes(body[:ERROR_BYTES])


async def _while_there(receive: Receive, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work, but no longer than the client waits for it."""
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - a group would wrap it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
