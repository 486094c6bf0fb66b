"""The request that endpoints get: its body is read up to a limit and parsed strictly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.types import Receive
from starlette.types import Scope as Connection

from memci.access import Scope, authorize
from memci.domain.documents.owner import collection_owner
from memci.errors import TooLargeError
from memci.http.body import MediaTypeError, parse_json
from memci.runtime import Runtime


class Call(Request):
    """A request that was let in, with what its endpoint needs."""

    def __init__(self, scope: Connection, receive: Receive, *, max_bytes: int) -> None:
        """Take the limit in bytes."""
        super().__init__(scope, receive)
        self._max_bytes = max_bytes
        self._bytes = b""
        self._parsed: Any = None

    async def read(self) -> None:
        """Read and parse the body, if there is one.

        Stops with ``TooLargeError`` as soon as it is over the limit. Raises ``MediaTypeError``
        or ``MalformedError``.
        """
        self._check_size(announced_bytes(self))
        body = bytearray()
        async for chunk in self.stream():
            body += chunk
            self._check_size(len(body))
        self._bytes = bytes(body)
        if self._bytes:
            if not _is_json(self.headers.get("content-type", "")):
                raise MediaTypeError
            self._parsed = parse_json(self._bytes)

    async def body(self) -> bytes:
        """Return what was read."""
        return self._bytes

    async def json(self) -> Any:
        """Return what was parsed."""
        return self._parsed

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise TooLargeError(
                f"expected a body of at most {self._max_bytes} bytes; send several requests"
            )

    @property
    def runtime(self) -> Runtime:
        """Everything that this process works with."""
        runtime: Runtime = self.app.state.runtime
        return runtime

    @property
    def traceparent(self) -> str | None:
        """The span that this request is."""
        traceparent: str | None = self.state.traceparent
        return traceparent

    def check(self, needed: Scope) -> None:
        """Raise ``ForbiddenError`` when the key may not do so much."""
        authorize(self.state.key, needed, None)

    def check_collections(self, names: Iterable[str]) -> None:
        """Raise ``ForbiddenError`` when the key may not read one of these collections."""
        for name in names:
            authorize(self.state.key, Scope.READ, collection_owner(name))

    @property
    def key_agents(self) -> str:
        """Pattern of the agents that the key is for."""
        agents: str = self.state.agents
        return agents


def announced_bytes(request: Request) -> int:
    """Return how long the body is to be, as far as its sender says so."""
    content_length = request.headers.get("content-length")
    return int(content_length) if content_length and content_length.isdecimal() else 0


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )
