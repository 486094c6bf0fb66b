"""``Memci.local``: memci in the background of the programs that use it."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memci.cli.up.run import announced_api
from memci.embedded import servers_of
from memci.testing import wait_until
from tests.support.command_line import environment, processes_of

pytestmark = pytest.mark.timeout(600)

PROGRAM = """
import json, sys
from memci import Memci
memory = Memci.local()
print(json.dumps({"url": memory.id}), flush=True)
for line in sys.stdin:
    print(json.dumps(eval(line)), flush=True)
"""


class Program:
    """A program with a local memory; it evaluates an expression a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = self.answer()["url"]

    def answer(self):
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, expression: str):
        assert self.process.stdin is not None
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()
        return self.answer()


@contextmanager
def program(data_dir: Path) -> Iterator[Program]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment(MEMCI_DATA_DIR=str(data_dir)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Program(process)
    finally:
        process.kill()
        process.communicate()


def test_programs_share_one_server_that_ends_with_the_last_of_them(tmp_path: Path):
    data_dir = tmp_path / "data"
    with program(data_dir) as first:
        first.ask("memory.add(\"I'm vegetarian\", user='anna').seq")
        with program(data_dir) as second:
            assert second.url == first.url
            second.ask("memory.add(['I play the violin', 'I live in Bern'], user='ben').seq")
            found = "[hit.text for hit in memory.search('food', user='anna', wait_ms=20_000).hits]"
            assert first.ask(found) == ["I'm vegetarian"]
            first.process.kill()
            first.process.wait(10)
            asked = second.ask(
                "memory.context('What do I play?', user='ben', wait_ms=20_000).as_dicts()"
            )
            texts = " ".join(each["content"] for each in asked)
            assert "violin" in texts
            assert "vegetarian" not in texts
    wait_until(lambda: not processes_of(data_dir), "everything has stopped", timeout_s=120)
    servers = servers_of(data_dir)
    assert (servers.postgres.pid, servers.redis.pid) == (None, None)
    log = (data_dir / "logs" / "background.log").read_text()
    assert "Traceback" not in log


def test_a_file_that_a_killed_server_left_leads_to_no_other_server(tmp_path: Path):
    (tmp_path / "api.url").write_text("http://127.0.0.1:8000\n")
    assert announced_api(tmp_path) is None
    with (tmp_path / "api.url").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert announced_api(tmp_path) == "http://127.0.0.1:8000"


def test_a_server_that_does_not_start_says_why(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment(
            MEMCI_DATA_DIR=str(tmp_path), MEMCI_DATABASE_URL="postgresql://127.0.0.1:1/none",
            MEMCI_BROKER_URL="redis://127.0.0.1:1/0",
        ),
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "ConfigurationError" in done.stderr
    assert "does not answer" in done.stderr.splitlines()[-1]
    assert processes_of(tmp_path) == []
