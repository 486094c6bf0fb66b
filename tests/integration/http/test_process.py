"""``python -m memci.http``, as the Procfile starts it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from memci.testing import wait_until
from tests.support.command_line import ROOT, environment, run
from tests.support.fork_server import fork_server

HEAVY = ("torch", "sentence_transformers", "jieba", "litellm", "transformers", "alembic")
COMMAND = ["python", "-m", "memci.http"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_the_api_serves_and_stops_cleanly(
    database_url: str, broker_url: str, stop: signal.Signals, tmp_path: Path
) -> None:
    port = free_port()
    servers = {"MEMCI_DATABASE_URL": database_url, "MEMCI_BROKER_URL": broker_url}
    log = tmp_path / "log"
    log.touch()
    api = fork_server().start(
        COMMAND,
        environment(**servers, MEMCI_PORT=str(port)),
        ROOT,
        *(Path(os.devnull), log, log),
    )

    def answers() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
        except httpx.ConnectError:
            assert api.poll() is None, log.read_text()
            return False

    try:
        wait_until(answers, "the API answered", timeout_s=40)
        body = {"messages": [{"role": "user", "content": "hush-hush"}]}
        assert httpx.post(f"http://127.0.0.1:{port}/v1/agents/a/messages", json=body).is_success
        api.send_signal(stop)
        assert api.wait(20) == 0, log.read_text()
    finally:
        api.kill()
    assert "no API keys" in log.read_text()
    assert "hush-hush" not in log.read_text()


def test_the_api_starts_fast_and_imports_nothing_heavy() -> None:
    # CPU time, relative to the CPU time of the frameworks, because machines differ.
    code = (
        "import sys, time; started = time.process_time()\n"
        "import fastapi, uvicorn, sqlalchemy.orm, psycopg, celery, httpx, pydantic_settings\n"
        "import prometheus_client, structlog; between = time.process_time()\n"
        "import memci.http.__main__; ended = time.process_time()\n"
        f"print([name for name in {HEAVY} if name in sys.modules])\n"
        "print((ended - started) / (between - started))"
    )
    ratios: list[float] = []
    while len(ratios) < 3 and not (ratios and ratios[-1] < 7):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        heavy, ratio = done.stdout.splitlines()
        assert heavy == "[]"
        ratios.append(float(ratio))
    assert ratios[-1] < 7, ratios


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"MEMCI_PORT": "many"}, "MEMCI_PORT"),
        ({"MEMCI_API_KEYS": '[{"name": "x", "hash": "secret-thing"}]'}, "MEMCI_API_KEYS__0__HASH"),
    ],
)
def test_wrong_settings_are_reported_in_one_line(wrong: dict[str, str], expected: str) -> None:
    servers = {"MEMCI_DATABASE_URL": "postgresql://x", "MEMCI_BROKER_URL": "redis://x"}
    done = fork_server().run(COMMAND, environment(**servers, **wrong), b"")
    log = done.stderr
    assert done.returncode == 1
    assert log.startswith("memci: ")
    assert expected in log
    assert "secret-thing" not in log
    assert "Traceback" not in log


def test_other_machines_are_served_with_a_key_in_the_database_only(
    database_url: str, broker_url: str
) -> None:
    servers = {"MEMCI_DATABASE_URL": database_url, "MEMCI_BROKER_URL": broker_url}
    port = free_port()
    public = environment(**servers, MEMCI_HOST="0.0.0.0", MEMCI_PORT=str(port))  # noqa: S104
    done = fork_server().run(COMMAND, public, b"")
    assert done.returncode == 1
    assert "refusing to bind to 0.0.0.0 without API keys" in done.stderr
    assert run("keys", "new", "first", settings=servers).returncode == 0
    log = Path(os.devnull)
    api = fork_server().start(COMMAND, public, ROOT, log, log, log)

    def status() -> int | None:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/v1/agents").status_code
        except httpx.ConnectError:
            return None

    try:
        wait_until(lambda: status() is not None, "the API answered", timeout_s=40)
        assert status() == 401
    finally:
        api.kill()
