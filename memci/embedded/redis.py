"""Redis as the broker: an append-only file, keyspace events for wakeups, a password."""

import os
import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from memci.embedded import files, server
from memci.embedded.server import Server

_SETTINGS = (
    ("bind", "127.0.0.1"),
    ("unixsocketperm", "700"),
    ("appendonly", "yes"),
    ("save", ""),  # the append-only file is the only copy
    ("maxmemory-policy", "noeviction"),  # a broker never drops a message to make room
    ("notify-keyspace-events", "Kl"),  # list events by key, for wakeups
    ("always-show-logo", "no"),
)


class Redis(Server):
    """The Redis server of a folder."""

    name: ClassVar[str] = "redis"
    stop_signals: ClassVar[Sequence[tuple[signal.Signals, float]]] = (
        (signal.SIGTERM, 15.0),
        (signal.SIGKILL, 10.0),
    )
    passing_troubles: ClassVar[Sequence[str]] = ("Address already in use",)

    @property
    def url(self) -> str:
        """The URL for programs, with the password."""
        return f"redis://:{self._password()}@127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        """Return True if the server of this home answers on the port in ``url``."""
        sockets = self._sockets()
        # The socket is in our folder, so it is safe to send the password there, unlike to an
        # unknown process on a port. The answer names the port.
        return self.pid is not None and sockets is not None and self._is_up(sockets)

    def _prepare(self) -> None:
        files.private_folder(self._storage, self.account)
        if not self._secret.exists():
            files.write_private(self._secret, files.new_password(), self.account)

    def _configure(self, port: int, sockets: Path) -> Sequence[str]:
        settings = (
            *_SETTINGS,
            ("appendfsync", "everysec" if self.durable else "no"),
            ("port", str(port)),
            ("unixsocket", os.fspath(self._socket(sockets))),
            ("dir", os.fspath(self._storage)),
            ("requirepass", self._password()),
        )
        # A file, because every user can read a command line.
        configuration = self.home / "server.conf"
        lines = "".join(f"{key} {_quoted(value)}\n" for key, value in settings)
        files.write_private(configuration, lines, self.account)
        return (os.fspath(server.redis_server()), os.fspath(configuration))

    def _is_up(self, sockets: Path) -> bool:
        client = redis.Redis(
            unix_socket_path=os.fspath(self._socket(sockets)),
            password=self._password(),
            socket_timeout=3,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
        )
        with closing(client):
            try:
                state = {**client.config_get("dir"), **client.config_get("port")}
            except redis.RedisError:
                return False
        return state == {"dir": os.fspath(self._storage.resolve()), "port": str(self.port)}

    def _socket(self, sockets: Path) -> Path:
        return sockets / "redis.sock"

    @property
    def _storage(self) -> Path:
        return self.home / "data"

    @property
    def _secret(self) -> Path:
        return self.home / "password"

    def _password(self) -> str:
        return self._secret.read_text(encoding="ascii")


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
