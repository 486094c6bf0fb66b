"""Server-sent events of all agents that a key is for, as they are committed."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from threading import Event as Flag
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from memci.domain.events import Position, StoredEvent
from memci.errors import RateLimitedError, UnavailableError
from memci.http.key_cache import KeyCache
from memci.reading.lists.cursors import place_after
from memci.schemas.events import Event
from memci.storage.events import events_after, latest_position
from memci.storage.session import Database

_POLL_S = 0.5
_HEARTBEAT_S = 15.0
_AT_ONCE = 500
_OF_ONE_KEY = 4  # it may have this part of all streams: 1/4
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStreams:
    """The streams of one API process.

    Each reads from the database when its client has taken what was read before, so a slow client
    holds one batch. Without streams nothing is read. A stream ends when its key is changed or
    accepted no more.
    """

    def __init__(self, database: Database, stopping: Flag, keys: KeyCache, *, most: int) -> None:
        """Allow ``most`` streams at once, a quarter for one key; ``stopping`` ends all."""
        self.database = database
        self.keys = keys
        self.stopping = stopping
        self.most = most
        self.most_of_key = max(most // _OF_ONE_KEY, 1)
        self.open = Counter[str | None]()  # by the name of the key

    def start(
        self, request: Request, wanted: Callable[[StoredEvent], bool], cursor: str | None
    ) -> StreamingResponse:
        """Return the stream of wanted events after the one of an id; None: of those to come.

        Raises ``RateLimitedError`` when as many are open as are allowed, ``InvalidInputError`` for
        a wrong id.
        """
        after = None if cursor is None else Position(*place_after(cursor, parts=2))
        key = request.state.key and request.state.key.name
        if self.open.total() >= self.most:
            raise RateLimitedError(f"{self.most} streams are open, the most of this server")
        if key is not None and self.open[key] >= self.most_of_key:
            raise RateLimitedError(f"{self.most_of_key} streams are open, the most of one key")
        return _Stream(self, key, self._events(request, wanted, after))

    async def _events(
        self, request: Request, wanted: Callable[[StoredEvent], bool], after: Position | None
    ) -> AsyncIterator[str]:
        quiet_s = _HEARTBEAT_S  # so that a client has a position at once
        while not (self.stopping.is_set() or await request.is_disconnected()):
            if not self.keys.holds(request.state.key):
                return
            try:
                position, events = await run_in_threadpool(self._read, after)
            except UnavailableError:
                return  # the client connects again, and goes on where it was
            full, after = len(events) == _AT_ONCE, position
            if chosen := [each for each in events if wanted(each)]:
                quiet_s = 0.0
                yield "".join(_written(Event.of(each)) for each in chosen)
            elif quiet_s >= _HEARTBEAT_S:
                quiet_s = 0.0
                yield f":\nid: {position}\n\n"
            if not full:
                quiet_s += _POLL_S
                await asyncio.sleep(_POLL_S)

    def _read(self, after: Position | None) -> tuple[Position, list[StoredEvent]]:
        with self.database.upkeep_transaction() as connection:
            if after is None:
                return latest_position(connection), []
            found = events_after(connection, after, limit=_AT_ONCE)
        return found[-1].position if found else after, found


class _Stream(StreamingResponse):
    """A response that counts among the open streams until it ends."""

    def __init__(self, streams: EventStreams, key: str | None, content: AsyncIterator[str]) -> None:
        super().__init__(content, media_type="text/event-stream", headers=_HEADERS)
        self._open, self._key = streams.open, key

    async def __call__(self, *asgi: Any) -> None:
        """Send until the client leaves or the server stops."""
        self._open[self._key] += 1
        try:
            await super().__call__(*asgi)
        finally:
            self._open[self._key] -= 1


def _written(event: Event) -> str:
    return f"id: {event.id}\nevent: {event.type}\ndata: {event.model_dump_json()}\n\n"
