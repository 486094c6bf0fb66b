"""`memci up`: all parts start, work, are restarted, and leave nothing behind."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from memci.cli.up.addresses import local_parts
from memci.embedded import servers_of
from memci.testing import wait_until
from tests.support.command_line import Up, processes_of, run, run_json, up
from tests.support.fleet import NO_MODEL

pytestmark = pytest.mark.timeout(400)
CHAT = "[2026-03-02 09:15] Ann: Our cat Tiger hates the vacuum cleaner.\nAssistant: Poor Tiger!\n"

PARTS = len(local_parts(os.cpu_count() or 1))


def test_everything_from_start_to_ctrl_c(tmp_path: Path):
    data_dir = tmp_path / "data"
    with up(data_dir, tmp_path / "said") as running:
        running.wait_for_log("memci is ready at ")
        settings = {"MEMCI_API_URL": _address(running), "MEMCI_DATA_DIR": str(data_dir)}
        _tour(settings, tmp_path)
        _check_secrets(running)
        _check_a_restart(running)

        running.interrupt()
        assert running.process.wait(100) == 0
    assert "Traceback" not in running.log_text
    assert processes_of(data_dir) == []
    servers = servers_of(data_dir)
    assert (servers.postgres.pid, servers.redis.pid) == (None, None)


def test_servers_of_a_killed_owner_are_adopted(tmp_path: Path):
    data_dir = tmp_path / "data"
    with up(data_dir, tmp_path / "first", **NO_MODEL) as killed:
        killed.wait_for_log(*(f"{name} " for name in ("api", "flower")), "starting")
        wait_until(lambda: len(killed.parts()) == PARTS, "all parts have a process")
        killed.process.kill()
        killed.process.wait(10)
    wait_until(lambda: not processes_of(data_dir), "its parts are gone with it")
    servers = servers_of(data_dir)
    pids = (servers.postgres.pid, servers.redis.pid)
    assert None not in pids

    with up(data_dir, tmp_path / "second", **NO_MODEL) as adopting:
        wait_until(lambda: len(adopting.parts()) == PARTS, "all parts have a process", timeout_s=60)
        assert (servers.postgres.pid, servers.redis.pid) == pids
        assert adopting.log_text.count("was running, and is adopted") == 2
        refused = run("up", settings={"MEMCI_DATA_DIR": str(data_dir), "MEMCI_PORT": "0"})
        assert refused.returncode == 1
        assert f"process {adopting.process.pid} already runs" in refused.stderr

        os.kill(adopting.parts()["beat"], signal.SIGSTOP)  # it will not end by itself
        adopting.interrupt()
        adopting.wait_for_log("stopping;")
        adopting.interrupt()
        adopting.process.wait(30)
    assert processes_of(data_dir) == []
    assert (servers.postgres.pid, servers.redis.pid) == (None, None)


def test_a_database_that_is_killed_while_it_starts_is_started_again(tmp_path: Path):
    data_dir = tmp_path / "data"
    postgres = servers_of(data_dir).postgres
    with up(data_dir, tmp_path / "said", **NO_MODEL) as running:
        for _ in range(3):
            killed = wait_until(lambda: postgres.pid, "it listens", timeout_s=60)
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda: postgres.pid != killed, "it is gone")  # noqa: B023 - called here
        wait_until(lambda: len(running.parts()) == PARTS, "all parts have a process", timeout_s=60)


@pytest.mark.long
def test_a_part_that_cannot_start_says_why(tmp_path: Path, database_url: str, broker_url: str):
    with up(
        tmp_path / "data",
        tmp_path / "said",
        MEMCI_DATABASE_URL=database_url,
        MEMCI_BROKER_URL=broker_url,
        FLOWER_MAX_WORKERS="many",  # Flower cannot parse it
        **NO_MODEL,
    ) as running:
        running.wait_for_log("flower does not start; the end of", "flower is started again")
        running.interrupt()
        assert running.process.wait(60) == 1
    assert processes_of(tmp_path / "data") == []


def test_a_port_that_is_taken_is_named_with_its_setting(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for name in ("MEMCI_PORT", "MEMCI_FLOWER_PORT"):
            ports = {"MEMCI_PORT": "0", "MEMCI_FLOWER_PORT": "0", name: str(port)}
            done = run("up", settings={"MEMCI_DATA_DIR": str(tmp_path / "data"), **ports})
            assert done.returncode == 1
            assert f"port {port} of 127.0.0.1 is in use" in done.stderr
            assert f"set {name} to another" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_page_store_that_parts_cannot_share_is_refused_before_any_starts(tmp_path: Path):
    settings = {"MEMCI_DATA_DIR": str(tmp_path / "data"), "MEMCI_PAGE_STORE": "memory"}
    done = run("up", settings={**settings, "MEMCI_PORT": "0", "MEMCI_FLOWER_PORT": "0"})
    assert done.returncode == 1
    assert "MEMCI_PAGE_STORE=memory" in done.stderr
    assert "set it to postgres" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "data").exists()


def test_a_running_memci_is_reported_before_its_ports(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken, (tmp_path / "lock").open("w+") as lock:
        lock.write("4711\n")
        lock.flush()
        settings = {"MEMCI_DATA_DIR": str(tmp_path), "MEMCI_PORT": str(taken.getsockname()[1])}
        assert "is in use" in run("up", settings=settings).stderr
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = run("up", settings=settings)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"memci: process 4711 already runs memci in {tmp_path}:")
    assert "is in use" not in refused.stderr


def _address(running: Up) -> str:
    line = next(
        each for each in running.log_text.splitlines() if each.startswith("memci is ready at ")
    )
    return line.split()[4]


def _tour(settings: Mapping[str, str], folder: Path) -> None:
    """Run all commands as a new user would."""
    chat = folder / "chat.txt"
    chat.write_text(CHAT)
    to_ann = ("--agent", "ann")
    sent = run_json("remember", str(chat), *to_ann, "--wait", settings=settings)
    assert (sent["accepted"], sent["duplicates"]) == (2, 0)
    again = run_json("remember", str(chat), *to_ann, "--wait", settings=settings)
    assert (again["accepted"], again["duplicates"]) == (0, 2)

    (ann,) = run_json("agents", "list", settings=settings)["agents"]
    assert (ann["agent_id"], ann["dead"]) == ("ann", 0)
    assert run_json("agents", "show", "--agent", "ann", settings=settings)["messages"] == 2
    nodes = run_json("memory", "nodes", *to_ann, "--kind", "memory", settings=settings)["nodes"]
    node = run_json("memory", "nodes", str(nodes[0]["id"]), *to_ann, settings=settings)
    assert node["trail"]["events"][0]["event"] == "created"
    (job,) = run_json("jobs", "list", *to_ann, settings=settings)["jobs"]
    assert job["state"] == "done"
    assert run_json("jobs", "show", job["id"], *to_ann, settings=settings)["id"] == job["id"]
    passes = run_json("agents", "show", "--agent", "ann", settings=settings)["passes"]
    # Beat may have asked for one meanwhile.
    compressed = run_json("memory", "compress", *to_ann, "--wait", settings=settings)
    assert compressed["passes"] > passes
    assert run_json("jobs", "retry", "--all", *to_ann, settings=settings) == {"jobs": []}
    assert run_json("agents", "pause", *to_ann, settings=settings)["paused"] is True
    assert run_json("agents", "resume", *to_ann, settings=settings)["paused"] is False

    recalled = run_json("recall", "Tiger", *to_ann, settings=settings)
    assert "vacuum" in recalled["memories"][0]["content"]
    assert run_json("recall", "submarine", *to_ann, settings=settings)["miss"] == "never_known"
    cut = run("recall", "Tiger", *to_ann, "--budget", "1", settings=settings)
    assert "found, none fits into 1 token " in cut.stdout
    kept = run("recall", "Tiger", *to_ann, "--relation", "nonsuch", settings=settings)
    assert "no links named nonsuch (--relation) lead to it within depth " in kept.stdout
    hits = run_json("search", "what does the cat dislike?", *to_ann, settings=settings)["hits"]
    assert "vacuum" in hits[0]["text"]
    elsewhere = run_json("search", "cat", *to_ann, "--session", "other", settings=settings)
    assert elsewhere["hits"] == []
    context = run_json("context", "Why hide?", *to_ann, "--budget", "200", settings=settings)
    assert context["tokens"] <= 200
    for command in (
        ["recall", "Tiger"],
        ["search", "cat"],
        ["context", "Why?"],
        ["memory", "nodes"],
    ):
        for_people = run(*command, *to_ann, settings=settings)
        assert for_people.returncode == 0
        assert "Tiger" in for_people.stdout

    assert run_json("db", "status", settings=settings)["fits"] is True
    findings = run_json("doctor", settings=settings)["findings"]
    assert {each["level"] for each in findings} <= {"ok", "note"}
    unknown = run("agents", "show", "--agent", "nobody", settings=settings)
    assert (unknown.returncode, unknown.stdout) == (1, "")


def _check_secrets(running: Up) -> None:
    password = running.data_dir / "flower.password"
    assert stat.S_IMODE(password.stat().st_mode) == 0o600
    secret = password.read_text().strip()
    broker = (running.data_dir / "redis/password").read_text().strip()
    printed = running.log_text + "".join(
        log.read_text(errors="replace") for log in (running.data_dir / "logs").iterdir()
    )
    commands = "".join(
        Path(f"/proc/{pid}/cmdline").read_text() for pid in processes_of(running.data_dir)
    )
    assert secret not in printed + commands
    assert broker not in printed + commands


def _check_a_restart(running: Up) -> None:
    before = running.parts()
    assert sorted(before) == sorted(local_parts(os.cpu_count() or 1))
    os.kill(before["beat"], signal.SIGKILL)
    running.wait_for_log("beat      restarting killed by SIGKILL", "restarted 1×")
    wait_until(
        lambda: "beat      ready" in running.log_text.split("restarted 1×", 1)[1],
        "beat is ready again",
        timeout_s=90,
    )
    after = running.parts()
    assert {name for name in before if before[name] != after[name]} == {"beat"}
