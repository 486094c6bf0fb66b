"""Faults by chance, from a seed: kinds, how each is made, and the loop that makes them."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import psycopg
import redis

from memci.embedded.server import Server, ServerProcess
from memci.errors import ConfigurationError
from tests.soak.stack import FORK_SERVER, PARTS, Stack

_SOON_S = 0.2
_FREEZE_S = (0.5, 8.0)
_DISK_FULL_S = (2.0, 8.0)
_SMALL_DISK = 16 << 30  # a larger file system is not the soak's own
_CUT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault that was made; seconds of the system's clock."""

    kind: str
    at: float


# Makes a fault; returns whether there was something to break.
Make = Callable[["Faults"], bool]


@dataclass
class Faults:
    """The faults of one run, made by one thread."""

    stack: Stack
    rng: random.Random
    made: list[Fault] = field(default_factory=list)
    # When the broker may have lost data.
    data_faults: list[float] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)  # what `memci up` said when it ended by itself
    _due: list[tuple[float, Callable[[], object]]] = field(default_factory=list)

    def run(self, seconds: float, period_s: float) -> None:
        """Make a fault every ``period_s`` seconds on average; then let all frozen ones go on."""
        kinds = kinds_of(self.stack)
        names, weights = list(kinds), [kinds[each][0] for each in kinds]
        ends = time.monotonic() + seconds
        try:
            while time.monotonic() < ends:
                (kind,) = self.rng.choices(names, weights)
                at = time.time()
                if kinds[kind][1](self):  # else there is nothing to break at the moment
                    self.made.append(Fault(kind, at))
                    self._log(f"{datetime.fromtimestamp(at, UTC):%H:%M:%S.%f} {kind}")
                    self._wait(self.rng.uniform(0.5, 1.5) * period_s)
                else:
                    self._wait(_SOON_S)
        finally:
            self._end_all()

    def later(self, seconds: float, end: Callable[[], object]) -> None:
        """End a fault after some seconds."""
        self._due.append((time.monotonic() + seconds, end))

    def loses_data(self) -> None:
        """Note that the broker's data may be lost from now on."""
        self.data_faults.append(time.time())

    def _log(self, line: str) -> None:
        """Write down when each fault was made, beside the logs of the parts."""
        with (self.stack.folder / "faults.log").open("a") as log:
            log.write(f"{line}\n")

    def look(self) -> None:
        """Do as the init system of a machine: start `memci up` again if it has ended."""
        if said := self.stack.revive():
            self.ended.append(said)

    def _wait(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while (now := time.monotonic()) < ends:
            self._end([each for each in self._due if each[0] <= now])
            self.look()
            time.sleep(min(0.1, ends - now))

    def _end(self, due: list[tuple[float, Callable[[], object]]]) -> None:
        for each in due:
            self._due.remove(each)
            each[1]()

    def _end_all(self) -> None:
        self._end(list(self._due))


def kinds_of(stack: Stack) -> dict[str, tuple[int, Make]]:
    """Return the kinds of faults, each with its weight and how it is made."""
    main = [each for each in PARTS if each not in {"beat", "flower"}]
    postgres, redis_ = stack.servers.postgres, stack.servers.redis
    found: dict[str, tuple[int, Make]] = {
        **{f"kill {each}": (6 if each in main else 3, _signals(each, "kill")) for each in PARTS},
        **{f"freeze {each}": (3, _signals(each, "freeze")) for each in main},
        **{f"restart {each}": (3, _signals(each, "restart")) for each in ("api", "lane")},
        "kill postgres": (6, _kill_postgres),
        "freeze postgres": (3, lambda faults: _freeze_server(faults, postgres)),
        "cut connections to postgres": (9, _cut_postgres),
        # Everything starts anew after these, which takes long.
        "kill the process that forks": (1, _signals(FORK_SERVER, "kill")),
        "kill memci up": (1, _kill_up),
    }
    if stack.has_redis:
        found |= {
            "flush redis": (6, _flush_redis),
            "kill redis": (6, _kill_redis),
            "freeze redis": (3, lambda faults: _freeze_server(faults, redis_)),
            "cut connections to redis": (9, _cut_redis),
        }
    if shutil.disk_usage(stack.folder).total <= _SMALL_DISK:
        found["full disk"] = (12, _fill_disk)
    return found


_SIGNALS: Mapping[str, signal.Signals] = {
    "kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "restart": signal.SIGTERM
}  # fmt: skip


def _signals(part: str, what: Literal["kill", "freeze", "restart"]) -> Make:
    def make(faults: Faults) -> bool:
        stack = faults.stack
        pause_s = faults.rng.uniform(*_FREEZE_S)
        pid = stack.fork_server() if part == FORK_SERVER else stack.pid(part)
        try:
            process = os.pidfd_open(pid or 0)
        except OSError:
            return False
        try:
            signal.pidfd_send_signal(process, _SIGNALS[what])
        except ProcessLookupError:
            os.close(process)
            return False
        faults.later(pause_s if what == "freeze" else 0, lambda: _thaw(process))
        return True

    return make


def _thaw(process: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, signal.SIGCONT)
    os.close(process)


def _kill_up(faults: Faults) -> bool:
    faults.stack.kill()
    faults.stack.start()
    return True


def _kill_postgres(faults: Faults) -> bool:
    """Kill PostgreSQL; `memci up` starts it again."""
    running = faults.stack.servers.postgres.pid is not None
    faults.stack.servers.postgres.kill()
    return running


def _kill_redis(faults: Faults) -> bool:
    """Kill Redis: it may lose its last second; `memci up` starts it again."""
    running = faults.stack.servers.redis.pid is not None
    faults.loses_data()
    faults.stack.servers.redis.kill()
    faults.loses_data()
    return running


def _freeze_server(faults: Faults, server: Server) -> bool:
    pause_s = faults.rng.uniform(*_FREEZE_S)
    pid = server.pid
    if pid is None:
        return False
    frozen = ExitStack()
    try:
        process = ServerProcess(pid)
    except ProcessLookupError:
        return False
    frozen.callback(process.release)
    process.send(signal.SIGSTOP)  # so that it starts no new children
    for each in process.with_children(frozen):
        each.send(signal.SIGSTOP)
        frozen.callback(each.send, signal.SIGCONT)
    faults.later(pause_s, frozen.close)
    return True


def _cut_postgres(faults: Faults) -> bool:
    share = faults.rng.choice((_CUT_SHARE, 1.0))
    try:
        rows = faults.stack.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = 'memci' AND pid <> pg_backend_pid() AND random() < %(share)s",
            {"share": share},
        )
    except (psycopg.Error, ConfigurationError):
        return False
    return bool(rows)


def _cut_redis(faults: Faults) -> bool:
    share = faults.rng.choice((_CUT_SHARE, 1.0))
    try:
        with closing(redis.Redis.from_url(faults.stack.broker_url)) as client:
            me = client.client_id()
            for each in client.client_list():
                if int(each["id"]) != me and faults.rng.random() < share:
                    client.client_kill_filter(_id=each["id"])
    except (redis.RedisError, OSError):
        return False
    return True


def _flush_redis(faults: Faults) -> bool:
    faults.loses_data()
    try:
        with closing(redis.Redis.from_url(faults.stack.broker_url)) as client:
            client.flushall()
    except (redis.RedisError, OSError):
        return False
    finally:
        faults.loses_data()
    return True


def _fill_disk(faults: Faults) -> bool:
    """Fill the file system of the run for some seconds; only where it is small."""
    faults.loses_data()
    ballast = faults.stack.folder / "ballast"
    with suppress(OSError), ballast.open("wb") as file:
        while True:
            file.write(bytes(1 << 20))
            file.flush()

    def end() -> None:
        ballast.unlink(missing_ok=True)
        faults.loses_data()

    faults.later(faults.rng.uniform(*_DISK_FULL_S), end)
    return True
