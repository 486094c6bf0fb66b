"""HTTP/1.1 of one connection: uvicorn's protocol, with limits of a request's head and of time.

They hold before a key is read. A client that sends slowly holds a connection, and no thread.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from memci.schemas.problems import MEDIA_TYPE, TYPE_PREFIX, Problem

# Bytes of the request line and of all headers.
HEAD_BYTES = 64 * 1024
# Seconds for a head, and for a body; a body has more time for each of its bytes.
HEAD_S, BODY_S, SLOWEST_BYTES_A_SECOND = 20.0, 60.0, 16 * 1024

TOO_LARGE = Problem(
    type=TYPE_PREFIX + "headers-too-large",
    title="Headers too large",
    status=431,
    detail=f"send a request line and headers of at most {HEAD_BYTES} bytes in all",
)
TOO_SLOW = Problem(
    type=TYPE_PREFIX + "request-timeout",
    title="Request timeout",
    status=408,
    detail=f"send the headers within {HEAD_S:g} seconds, and the body within {BODY_S:g} seconds"
    f" and at {SLOWEST_BYTES_A_SECOND} bytes a second",
)


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections whose requests have a large head, or come too slowly."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._in_head = True
        self._head_bytes = self._unread_bytes = 0
        self._is_last = False  # whether the client wants no other answer on this connection
        self._ends = 0.0  # when the time is over, by the clock of the loop

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._expect(in_head=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._expect_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came, unless the head is too large."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        # The parser tells only of whole headers.
        self._unread_bytes += len(data)
        if self._in_head and self._unread_bytes > HEAD_BYTES:
            self._refuse(TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        super().on_message_begin()
        self._expect(in_head=True)

    def on_url(self, url: bytes) -> None:
        """Read a part of the path."""
        self._head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a header."""
        self._head_bytes += len(name) + len(value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to wait for the body, unless the head is too large."""
        if self.transport.is_closing():
            return
        if self._head_bytes > HEAD_BYTES:
            self._refuse(TOO_LARGE)
            return
        self._expect(in_head=False)
        super().on_headers_complete()
        self._is_last, self.cycle.keep_alive = not self.cycle.keep_alive, True

    def on_body(self, body: bytes) -> None:
        """Read a part of the body."""
        if not self.transport.is_closing():
            self._ends += len(body) / SLOWEST_BYTES_A_SECOND
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop waiting: the request is whole."""
        self._expect_nothing()
        if not self.transport.is_closing():
            super().on_message_complete()
            self._close_after_last()

    def on_response_complete(self) -> None:
        """Wait for the next request, or close the connection."""
        super().on_response_complete()
        self._close_after_last()

    def _close_after_last(self) -> None:
        """Close when the last request is read and answered.

        If the connection were closed before the body is read, the kernel would reset it, and the
        client could not read the answer.
        """
        if self._is_last and self._timer is None and self.cycle.response_complete:
            self.transport.close()

    def _expect(self, *, in_head: bool) -> None:
        self._expect_nothing()
        self._in_head, self._head_bytes, self._unread_bytes = in_head, 0, 0
        self._ends = self.loop.time() + (HEAD_S if in_head else BODY_S)
        self._timer = self.loop.call_at(self._ends, self._check_time)

    def _expect_nothing(self) -> None:
        self._in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_time(self) -> None:
        now = self.loop.time()
        if self.flow.read_paused:  # by this server, which still works on what came
            self._ends = max(self._ends, now + 1.0)
        if now < self._ends:
            self._timer = self.loop.call_at(self._ends, self._check_time)
        elif not self.transport.is_closing():
            self._refuse(TOO_SLOW)

    def _refuse(self, problem: Problem) -> None:
        """Answer, if no other answer has begun, and close the connection."""
        self._expect_nothing()
        self._unset_keepalive_if_required()
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = problem.model_dump_json(exclude_none=True).encode()
            head = (
                f"HTTP/1.1 {problem.status} {problem.title}\r\ncontent-type: {MEDIA_TYPE}\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()
