"""Serves the application on a free port, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import ClassVar

from celery import Celery
from pydantic import BaseModel
from sqlalchemy import text

from memci.broker.app import make_app
from memci.broker.call import RedisReads
from memci.broker.token import Tokens
from memci.config import Settings
from memci.errors import NotFoundError
from memci.http.app import create_app
from memci.http.server import make_server
from memci.queue.intake import Intake
from memci.shapes.agent import (
    AgentList,
    FocusList,
    JobList,
    LinkList,
    NodeList,
    TrailList,
)
from memci.shapes.message import MessageList
from memci.storage.session import Database
from memci.telemetry.traces import NO_TRACES
from memci.testing import wait_until


class Parts:
    """What the application works with."""

    traces = NO_TRACES

    def __init__(self, settings: Settings) -> None:
        assert settings.database_url
        assert settings.broker_url
        broker_url = settings.broker_url.get_secret_value()
        self.settings = settings
        self.database = Database(settings.database_url.get_secret_value())
        self.celery: Celery = make_app(broker_url)
        self.tokens = Tokens(self.celery)
        self.intake = Intake(self.database, self.tokens)
        self.reads = RedisReads(self.celery, broker_url, settings.read_timeout_ms)

    def close(self) -> None:
        self.reads._client.close()
        self.celery.close()
        self.database.close()


class NothingListed:
    """An empty house: every list is empty, and no single thing exists."""

    _EMPTY: ClassVar[dict[str, BaseModel]] = {
        "agents": AgentList(agents=[], next_cursor=None),
        "messages": MessageList(messages=[], next_cursor=None),
        "nodes": NodeList(nodes=[], next_cursor=None),
        "trail": TrailList(events=[], next_cursor=None),
        "links": LinkList(links=[], next_cursor=None),
        "focus": FocusList(focus=[]),
        "jobs": JobList(jobs=[], next_cursor=None),
    }

    def __getattr__(self, name: str) -> Callable[..., BaseModel]:
        def read(*_args: object, **_asked: object) -> BaseModel:
            if name not in self._EMPTY:
                raise NotFoundError
            return self._EMPTY[name]

        return read


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    parts: Parts

    def count(self, table: str) -> int | None:
        """Return how many rows all agents have in a table, as far as the lane sees."""
        with self.parts.database.lane_transaction() as connection:
            return connection.scalar(text(f"SELECT count(*) FROM {table}"))  # noqa: S608

    def messages(self, agent_id: str) -> list[str | None]:
        """Return the contents of an agent's stored messages, in order."""
        with self.parts.database.agent_snapshot(agent_id) as connection:
            rows = connection.exec_driver_sql("SELECT content FROM message ORDER BY seq")
            return [row[0] for row in rows]


@contextmanager
def served(settings: Settings) -> Iterator[Served]:
    """Serve with these settings until the block ends."""
    with closing(Parts(settings)) as parts, _running(parts) as url:
        yield Served(url, parts)


@contextmanager
def _running(parts: Parts) -> Iterator[str]:
    server = make_server(create_app(parts, NothingListed()), host="127.0.0.1", port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server started")
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        assert not thread.is_alive()
