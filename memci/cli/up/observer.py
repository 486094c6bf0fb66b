"""A thread that asks, so that the thread which starts and stops never waits for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from queue import SimpleQueue
from threading import Event, Thread

from memci.cli.up.readiness import Readiness
from memci.embedded import Servers
from memci.errors import ConfigurationError

_PERIOD_S = 0.3


class Observer:
    """Asks parts whether they are ready, and brings a database server back that has died."""

    def __init__(self, readiness: Readiness, servers: Servers | None) -> None:
        """Watch ``servers`` too, if they are ours."""
        self._readiness = readiness
        self._servers = servers
        self._starting: Mapping[str, int] = {}
        self._stop = Event()
        self._thread = Thread(target=self._run, name="observer", daemon=True)
        self.ready: SimpleQueue[tuple[str, int]] = SimpleQueue()  # part and process
        self.news: SimpleQueue[str] = SimpleQueue()  # about the servers

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Stop asking; returns when the thread has ended. It need not have begun."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._readiness.close()

    def watch(self, starting: Mapping[str, int]) -> None:
        """Say which parts, by name and process, are to be asked from now on."""
        self._starting = dict(starting)

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD_S):
            starting = self._starting
            for name in self._readiness.ready(starting) if starting else ():
                self.ready.put((name, starting[name]))
            if self._servers is not None:
                self._revive(self._servers)

    def _revive(self, servers: Servers) -> None:
        for server in (servers.postgres, servers.redis):
            if server.pid is not None:
                continue
            self.news.put(f"{server.name} has died and is started again")
            try:
                server.start()
            except ConfigurationError as error:
                self.news.put(str(error))
