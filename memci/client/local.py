"""memci on this machine, in the background of the programs that use it."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, NamedTuple

from memci.config.installed import check_server
from memci.errors import ConfigurationError


class LocalServer(NamedTuple):
    """A server that runs while any program has ``in_use`` open."""

    url: str
    api_key: str | None
    in_use: IO[bytes]


def start_local(data_dir: Path | str | None) -> LocalServer:
    """Start memci on a data folder (none: that of the settings), unless it runs.

    Raises ``ConfigurationError`` if it does not start.
    """
    check_server()
    environment = dict(os.environ)
    if data_dir is not None:
        environment["MEMCI_DATA_DIR"] = str(Path(data_dir).expanduser().absolute())
    with subprocess.Popen(
        (sys.executable, "-m", "memci.cli.up.background"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as starter:
        assert starter.stdout is not None  # noqa: S101 - it is a pipe
        said = starter.stdout.readline()
        if not said:
            reason = starter.communicate()[1].decode(errors="replace").strip()
            raise ConfigurationError(reason or "memci does not start on this machine")
        answer = json.loads(said)
        in_use = Path(answer["users"]).open("rb")  # noqa: SIM115 - open as long as the client
        # The starter has the same lock, until its standard input is closed.
        fcntl.flock(in_use, fcntl.LOCK_SH)
    return LocalServer(answer["url"], answer["api_key"], in_use)
