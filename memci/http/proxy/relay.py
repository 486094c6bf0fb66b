"""Relay an answer, and read it on the way."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx
from starlette.types import Receive, Send

from memci.http.proxy.upstream import ERROR_BYTES, Upstream, headers_for_client

STATE_HEADER = "x-memci-memory"
_ERROR_FROM = 400


@dataclass
class AnswerReader:
    """Reads an answer, whole or streamed; of several choices the first."""

    streamed: bool
    # A longer answer passes unread, and is not recorded.
    max_bytes: int
    model: str | None = None
    # A stream had its end mark.
    has_ended: bool = False
    _size: int = 0
    _unread: bytearray = field(default_factory=bytearray)
    _texts: list[str] = field(default_factory=list)
    _refusals: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, Any]] = field(default_factory=dict)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the answer."""
        self._size += len(chunk)
        if self._size > self.max_bytes:
            self._unread.clear()
            return
        self._unread += chunk
        if self.streamed and b"\n" in chunk:
            *lines, rest = bytes(self._unread).split(b"\n")
            self._unread = bytearray(rest)
            for line in lines:
                self._read_line(line)

    def message(self) -> dict[str, Any] | None:
        """Return the message as far as it was received, or None."""
        if self._size > self.max_bytes:
            return None
        if self.streamed:
            self._read_line(bytes(self._unread))
        else:
            self._read_event(_parse_json(bytes(self._unread)), "message")
        self._unread.clear()
        message: dict[str, Any] = {"content": "".join(self._texts)}
        if self._refusals:
            message["refusal"] = "".join(self._refusals)
        calls = [each for _, each in sorted(self._calls.items()) if _is_complete(each)]
        if calls:
            message["tool_calls"] = calls
        return {"role": "assistant", **message} if any(message.values()) else None

    def _read_line(self, line: bytes) -> None:
        line = line.strip()
        if line.startswith(b"data:"):
            data = line.removeprefix(b"data:").strip()
            if data == b"[DONE]":
                self.has_ended = True
            else:
                self._read_event(_parse_json(data), "delta")

    def _read_event(self, event: Mapping[str, Any], part: str) -> None:
        if isinstance(event.get("model"), str):
            self.model = event["model"]
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                message = choice.get(part)
                if isinstance(message, dict):
                    self._add(message)

    def _add(self, message: Mapping[str, Any]) -> None:
        if isinstance(message.get("content"), str):
            self._texts.append(message["content"])
        if isinstance(message.get("refusal"), str):
            self._refusals.append(message["refusal"])
        calls = message.get("tool_calls")
        for place, part in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(part, dict):
                self._add_call(part.get("index", place), part)

    def _add_call(self, index: object, part: Mapping[str, Any]) -> None:
        """Add a part of a call; its id and name come first."""
        if not isinstance(index, int):
            return
        call = self._calls.setdefault(index, {"id": "", "function": {"name": "", "arguments": ""}})
        call["id"] = part.get("id") or call["id"]
        function = part.get("function")
        if isinstance(function, dict):
            call["function"]["name"] = function.get("name") or call["function"]["name"]
            call["function"]["arguments"] += str(function.get("arguments") or "")


def _is_complete(call: Mapping[str, Any]) -> bool:
    """Return True for a call with an id, a name and arguments that can be parsed."""
    try:
        json.loads(call["function"]["arguments"] or "{}")
    except ValueError:
        return False
    return bool(call["id"] and call["function"]["name"])


def _parse_json(text: bytes) -> Mapping[str, Any]:
    try:
        event = json.loads(text)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


@dataclass
class Relay:
    """Passes one answer on."""

    upstream: Upstream
    reader: AnswerReader | None = None
    # Runs after the answer is read, before its last part is passed on, so before the client's next
    # request.
    at_end: Callable[[], Awaitable[None]] | None = None
    # The value of the header X-Memci-Memory, if any.
    state: str | None = None
    # True if the whole answer was read.
    whole: bool = False

    async def run(
        self, ask: Callable[[], Awaitable[httpx.Response]], receive: Receive, send: Send
    ) -> None:
        """Send the request and pass on the answer, while the client is connected.

        Raises ``UnavailableError`` if there is no answer, and httpx's error if it ends early: the
        server then cuts the connection, so that the client sees that it is incomplete.
        """

        async def work() -> None:
            response = await ask()
            try:
                await self._pass_on(response, send)
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()

        await _run_while_connected(receive, work)

    async def _pass_on(self, response: httpx.Response, send: Send) -> None:
        is_error = response.status_code >= _ERROR_FROM
        response.headers.encoding = "latin-1"  # byte by byte, whatever they say
        headers = headers_for_client(response.headers.multi_items())
        if self.state is not None:
            headers.append((STATE_HEADER, self.state))
        body = b""
        if is_error:
            body = self.upstream.masked(await _read_error(response))
            headers = [each for each in headers if each[0] != "content-length"]
            headers.append(("content-length", str(len(body))))
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        start = {"type": "http.response.start", "status": response.status_code, "headers": raw}
        await send(start)
        if is_error:
            self.whole = True
        else:
            async for chunk in response.aiter_raw():
                if self._is_last(response, chunk):
                    await self._end()
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await self._end()
        await send({"type": "http.response.body", "body": body})

    def _is_last(self, response: httpx.Response, chunk: bytes) -> bool:
        """Read a chunk; return True if it completes the answer for the client."""
        if self.reader is not None:
            self.reader.feed(chunk)
            if self.reader.has_ended:
                return True
        length: str | None = response.headers.get("content-length")
        return length == str(response.num_bytes_downloaded)

    async def _end(self) -> None:
        if not self.whole:
            self.whole = True
            if self.at_end is not None:
                await self.at_end()


async def _read_error(response: httpx.Response) -> bytes:
    """Return the body of an error, cut to ``ERROR_BYTES``."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > ERROR_BYTES:
            break
    return bytes(body[:ERROR_BYTES])


async def _run_while_connected(receive: Receive, work: Callable[[], Awaitable[None]]) -> None:
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
