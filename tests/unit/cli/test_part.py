"""A part of `memci up` that exits is restarted after growing pauses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.cli.up.addresses import Addresses
from memci.cli.up.fork_server import ForkServer
from memci.cli.up.part import FALSE_STARTS, Part, PartLog, Readiness, State, pause_s
from memci.cli.up.run import part_environment
from memci.embedded.owner import Addresses as ServerAddresses
from memci.testing import wait_until
from tests.support.command_line import environment


@given(st.integers(0, 10_000))
def test_pauses_grow_up_to_30_seconds(false_starts: int):
    assert 1 <= pause_s(false_starts) <= pause_s(false_starts + 1) <= 30


SERVING = ("python", "-m", "http.server", "0", "--bind", "127.0.0.1")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    server = ForkServer(environment(), tmp_path_factory.mktemp("server") / "log")
    yield server
    server.stop()


@pytest.fixture
def part(tmp_path: Path, server: ForkServer):
    log = PartLog(tmp_path / "part.log")
    part = Part("part", ("python", "-m", "memci.cli", "bad-luck"), environment(), log, server)
    yield part
    part.kill()
    wait_until(part.has_stopped, "nothing is left")


def test_a_part_that_exits_at_once_is_restarted_and_its_output_is_logged(part: Part):
    part.start()
    assert part.state is State.STARTING
    wait_until(part.check, "its death is noticed")
    assert part.state is State.RESTARTING
    assert "exited with code 2" in part.note
    assert "bad-luck" in " ".join(part.log.last_lines(5))
    assert part.log.path.stat().st_mode & 0o777 == 0o600
    wait_until(part.check, "it is started again")
    assert part.restarts == 1


def test_a_part_whose_log_cannot_be_opened_is_started_again_later(tmp_path: Path, part: Part):
    part.log.path = tmp_path / "not made yet" / "part.log"
    part.start()
    assert (part.pid, part.state) == (None, State.RESTARTING)
    assert "No such file or directory" in part.note
    part.log.path.parent.mkdir()
    wait_until(part.check, "it is started again")
    assert part.pid is not None


def test_a_part_that_was_ready_and_exits_is_no_false_start(tmp_path: Path, server: ForkServer):
    part = Part("part", SERVING, environment(), PartLog(tmp_path / "log"), server)
    part.start()
    pid = part.pid
    assert pid is not None
    assert not part.note_ready(pid + 1), "that was another process"
    assert part.note_ready(pid)
    assert part.state is State.READY
    os.kill(pid, 9)
    wait_until(part.check, "its death is noticed")
    assert (part.state, part.false_starts) == (State.RESTARTING, 0)
    assert "killed by SIGKILL" in part.note
    part.ask_to_stop()
    assert part.has_stopped()
    assert not part.check(), "it is not started again"


def test_a_part_that_worked_for_long_starts_again_at_once(
    tmp_path: Path, server: ForkServer, monkeypatch: pytest.MonkeyPatch
):
    part = Part("part", SERVING, environment(), PartLog(tmp_path / "log"), server)
    monkeypatch.setattr("memci.cli.up.part._STABLE_S", 0.0)
    part.start()
    assert part.pid is not None
    assert part.note_ready(part.pid)
    os.kill(part.pid, 9)
    wait_until(part.check, "its death is noticed")
    assert part.note == "killed by SIGKILL, again in 0 s"
    assert part.check(), "it is started"
    assert (part.state, part.restarts) == (State.STARTING, 1)
    part.kill()
    wait_until(part.has_stopped, "nothing is left")


def test_a_part_fails_after_the_maximum_of_false_starts(part: Part):
    part.false_starts = FALSE_STARTS - 1
    part.start()
    wait_until(part.check, "its death is noticed")
    assert part.state is State.FAILED


def test_parts_end_with_the_process_that_forks_them_and_are_started_by_another(tmp_path: Path):
    server = ForkServer(environment(), tmp_path / "server.log")
    part = Part("part", SERVING, environment(), PartLog(tmp_path / "log"), server)
    part.start()
    first = part.pid
    assert first is not None
    parent = int(Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, 9)
    wait_until(part.check, "its death is noticed")
    assert "killed by SIGKILL" in part.note
    wait_until(lambda: not Path(f"/proc/{first}").exists(), "it is gone")
    wait_until(part.check, "it is started again")
    assert part.state is State.STARTING
    assert part.pid not in {None, first}
    server.stop()
    wait_until(part.has_stopped, "it ends with the second one")


def test_a_part_tells_that_it_is_ready(tmp_path: Path, server: ForkServer):
    readiness = Readiness(Addresses("127.0.0.1", 1, 1), ("memci", "secret"))
    command = ("python", "-m", "memci.telemetry.readiness")
    told = {**environment(), "NOTIFY_SOCKET": readiness.address}
    part = Part("part", command, told, PartLog(tmp_path / "log"), server)
    part.start()
    pid = part.pid
    assert pid is not None
    wait_until(lambda: readiness.ready({"part": pid}) == ["part"], "it tells so")
    assert readiness.ready({"part": pid + 1, "api": pid}) == [], "no page of the API answers"
    readiness.close()
    wait_until(part.check, "it ends")


def test_with_parent_death_a_command_keeps_its_command_line_and_ends_with_its_parent():
    holder = (
        "import os, subprocess, sys; child = subprocess.Popen([sys.executable, '-m',"
        " 'memci.cli.up.parent_death', str(os.getpid()), 'sleep', '60']);"
        " print(child.pid, flush=True); child.wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], env=environment(), stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        child = Path(f"/proc/{int(parent.stdout.readline())}")
        wait_until(
            lambda: (child / "cmdline").read_bytes() == b"sleep\x0060\x00", "it is the command"
        )
        parent.kill()
    wait_until(lambda: not child.exists() or ") Z " in (child / "stat").read_text(), "it is gone")


def test_parent_death_starts_nothing_if_the_parent_has_ended():
    done = subprocess.run(
        [sys.executable, "-m", "memci.cli.up.parent_death", "1", "echo", "hello"],
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (143, b"")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),  # noqa: S104 - nothing listens here
        ("::1", "http://[::1]:8000"),
        ("::", "http://[::1]:8000"),
        ("memci.example", "http://memci.example:8000"),
    ],
)
def test_shown_addresses_work_in_a_browser(host: str, url: str):
    assert Addresses(host, 8000, 5555).api_url == url


def test_addresses_open_to_other_machines_give_a_warning():
    assert Addresses("127.0.0.1", 8000, 5555).exposure_warning is None
    assert Addresses("::1", 8000, 5555).exposure_warning is None
    everywhere = Addresses("0.0.0.0", 8000, 5555).exposure_warning  # noqa: S104 - nothing is bound
    assert everywhere
    assert everywhere.startswith(
        "API and Flower listen on every address of this machine (0.0.0.0),"
    )
    assert "without encryption" in everywhere
    one = Addresses("192.0.2.7", 8000, 5555).exposure_warning
    assert one
    assert one.startswith("API and Flower listen on 192.0.2.7, for others")


def test_parts_get_no_login_that_may_change_the_schema(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMCI_MIGRATION_URL", "postgresql://postgres@127.0.0.1/memci")
    servers = ServerAddresses("postgresql://a", "redis://b", "postgresql://c")
    environment = part_environment(servers, "secret", Addresses("127.0.0.1", 1, 2), "@none")
    assert environment["MEMCI_DATABASE_URL"] == "postgresql://a"
    assert "MEMCI_MIGRATION_URL" not in environment
