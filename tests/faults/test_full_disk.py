"""`memci up` outlives a full disk (runbook, "Disk full")."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from memci.cli.up.addresses import Addresses
from memci.cli.up.part import Readiness
from memci.cli.up.supervisor import Board, Observer
from memci.testing import wait_until

ADDRESSES = Addresses("127.0.0.1", 1, 2)


@contextmanager
def nothing_can_be_written():
    """No file of this process can grow; its children would inherit that."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("name", ["redis", "postgres"])
def test_a_server_that_dies_on_a_full_disk_is_started_when_there_is_space(own_servers, name):
    server = getattr(own_servers, name)
    observer = Observer(Readiness(ADDRESSES, ("memci", "none")), own_servers)
    said: list[str] = []

    def tells(text: str) -> bool:
        while not observer.news.empty():
            said.append(observer.news.get())
        return any(text in each for each in said)

    server.kill()
    try:
        with nothing_can_be_written():
            observer.start()
            wait_until(lambda: tells(f"{name} is started again in a moment: OSError"), "it fails")
        wait_until(server.answers, f"{name} answers", timeout_s=30)
    finally:
        observer.stop()
    assert len(said) < 10, "it does not fill the log"


def test_a_line_that_cannot_be_printed_ends_nothing():
    full = Path("/dev/full").open("w")  # noqa: SIM115 - to close it is the proof
    Board(Console(file=full)).say("redis has died and is started again")
    with pytest.raises(OSError, match="No space left"):
        full.close()
