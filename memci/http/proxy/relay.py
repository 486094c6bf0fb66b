"""Relays a streamed answer, and records it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import httpx
from starlette.types import Receive, Send

from memci.http.proxy.upstream import ERROR_BYTES, Upstream, back

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


_DATA = b"data:"
_END = "[DONE]"


@dataclass
class Answer:
    """Listens to an answer, whole or streamed; of several choices to the first.

    ``most`` bytes are listened to: what is longer passes on unheard, and is not recorded.
    """

    streamed: bool
    most: int
    model: str | None = None
    has_ended: bool = False  # a stream, by its own mark: clients wait for no more
    _size: int = 0
    _waiting: bytearray = field(default_factory=bytearray)
    _texts: list[str] = field(default_factory=list)
    _refusals: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, Any]] = field(default_factory=dict)

    def hear(self, chunk: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        self._size += len(chunk)
        if self._size > self.most:
            self._waiting.clear()
            return
        self._waiting += chunk
        if not self.streamed or b"\n" not in chunk:
            return
        *lines, rest = bytes(self._waiting).split(b"\n")
        self._waiting = bytearray(rest)
        for line in lines:
            self._line(line)

    def message(self) -> dict[str, Any] | None:
        """Return the message as far as it was heard; None where nothing of one was."""
        if self._size > self.most:
            return None
        if self.streamed:
            self._line(bytes(self._waiting))
            self._waiting.clear()
        else:
            self._choose(_parsed(bytes(self._waiting)), "message")
            self._waiting.clear()
        said: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts)}
        if self._refusals:
            said["refusal"] = "".join(self._refusals)
        calls = [each for _, each in sorted(self._calls.items()) if _is_whole(each)]
        if calls:
            said["tool_calls"] = calls
        return (
            said if any(said.get(each) for each in ("content", "refusal", "tool_calls")) else None
        )

    def _line(self, line: bytes) -> None:
        line = line.strip()
        if line.startswith(_DATA):
            text = line.removeprefix(_DATA).strip()
            if text == _END.encode():
                self.has_ended = True
            else:
                self._choose(_parsed(text), "delta")

    def _choose(self, event: Mapping[str, Any], name: str) -> None:
        if isinstance(event.get("model"), str):
            self.model = event["model"]
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                said = choice.get(name)
                if isinstance(said, dict):
                    self._add(said)

    def _add(self, said: Mapping[str, Any]) -> None:
        if isinstance(said.get("content"), str):
            self._texts.append(said["content"])
        if isinstance(said.get("refusal"), str):
            self._refusals.append(said["refusal"])
        calls = said.get("tool_calls")
        for place, part in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(part, dict):
                self._add_call(part.get("index", place), part)

    def _add_call(self, index: object, part: Mapping[str, Any]) -> None:
        """Put a piece of a call to the pieces before it: its id and name come first."""
        if not isinstance(index, int):
            return
        call = self._calls.setdefault(index, {"id": "", "function": {"name": "", "arguments": ""}})
        call["id"] = part.get("id") or call["id"]
        piece = part.get("function")
        if isinstance(piece, dict):
            call["function"]["name"] = piece.get("name") or call["function"]["name"]
            call["function"]["arguments"] += str(piece.get("arguments") or "")


def _is_whole(call: Mapping[str, Any]) -> bool:
    """Tell whether a call got as far as to say what it calls, with arguments that can be read."""
    try:
        json.loads(call["function"]["arguments"] or "{}")
    except ValueError:
        return False
    return bool(call["id"] and call["function"]["name"])


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        event = json.loads(text)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
