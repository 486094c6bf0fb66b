"""Passes an answer on while it comes, and stops the upstream when its client has gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
import httpx
from starlette.types import Receive, Send

from memci.http.proxy.headers import back
from memci.http.proxy.upstream import ERROR_BYTES, Upstream

STATE = "x-memci-memory"
_ERROR_FROM = 400


@dataclass
class Relay:
    """One answer under way; ``hear`` is told each chunk before it is passed on.

    ``state`` is what the header ``X-Memci-Memory`` says, if anything. ``whole``: all has been
    passed on.
    """

    upstream: Upstream
    hear: Callable[[bytes], None]
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
            self.hear(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self.whole = True
        await send({"type": "http.response.body", "body": b""})

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
