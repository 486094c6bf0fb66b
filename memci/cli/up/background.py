"""memci in the background, for the programs of one machine that use it (``Memci.local``).

``python -m memci.cli.up.background`` starts it, unless it runs, and prints its address and key as
JSON. It reads standard input to the end before it exits: until then the caller has time to lock
``users``. The background process stops when nobody has that lock any more; the kernel unlocks it
when a program ends, whatever ends it.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO

import httpx

from memci.cli.up.run import announced_api, run_everything
from memci.config.settings import Settings, load_settings
from memci.embedded.files import PLAIN, open_log
from memci.errors import ConfigurationError, MemciError

_USERS, _START = "users.lock", "start.lock"
_START_S = 180.0
_LOOK_EVERY_S = 0.1
# After the last program; the next one often follows.
_LINGER_S = 15.0


def main() -> None:
    """Connect a program, or with the argument ``run`` be the background process."""
    try:
        settings = load_settings()
        if sys.argv[1:] == ["run"]:
            sys.exit(_run(settings))
        _connect(settings)
    except MemciError as error:
        sys.exit(str(error))


def _connect(settings: Settings) -> None:
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    users = settings.data_dir / _USERS
    with _locked(users, fcntl.LOCK_SH):
        with _locked(settings.data_dir / _START, fcntl.LOCK_EX):
            url = _running(settings) or _start(settings)
        key = settings.api_key.get_secret_value() if settings.api_key else None
        print(json.dumps({"url": url, "users": str(users), "api_key": key}), flush=True)
        sys.stdin.read()


def _running(settings: Settings) -> str | None:
    """Return the address of the API that runs on the data folder, if it is ready."""
    url = announced_api(settings.data_dir)
    try:
        return url if url and httpx.get(f"{url}/readyz", timeout=5).is_success else None
    except httpx.HTTPError:
        return None


def _start(settings: Settings) -> str:
    """Start the background process, and return the address of its API when it is ready."""
    log = settings.data_dir / "logs" / "background.log"
    log.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = open_log(log, PLAIN)
    try:
        process = subprocess.Popen(
            (sys.executable, "-m", "memci.cli.up.background", "run"),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
            # Other programs may have the usual ports.
            env={**os.environ, "MEMCI_PORT": "0", "MEMCI_FLOWER_PORT": "0"},
        )
    finally:
        os.close(descriptor)
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        url = _running(settings)
        if url is not None:
            return url
        if process.poll() is not None:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise ConfigurationError(said[-1] if said else f"memci did not start; see {log}")
        time.sleep(_LOOK_EVERY_S)
    raise ConfigurationError(f"memci was not ready within {_START_S:.0f} s; see {log.parent}")


def _run(settings: Settings) -> int:
    """Run everything until no program uses it."""
    Thread(target=_stop_when_unused, args=(settings.data_dir,), daemon=True).start()
    return run_everything(settings)


def _stop_when_unused(data_dir: Path) -> None:
    unused_since: float | None = None
    while True:
        time.sleep(_LOOK_EVERY_S)
        with (data_dir / _USERS).open("r+b") as users:
            if not _lock_now(users):
                unused_since = None
                continue
            unused_since = unused_since or time.monotonic()
            if time.monotonic() - unused_since < _LINGER_S:
                continue
            # A program that comes now waits for this lock until everything has stopped.
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()


def _lock_now(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    path.touch(mode=0o600)
    with path.open("r+b") as file:
        fcntl.flock(file, how)
        yield


if __name__ == "__main__":
    main()
