"""``python -m memci.http``, as the Procfile starts it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from memci.testing import wait_until

HEAVY = ("torch", "sentence_transformers", "jieba", "litellm", "transformers", "alembic")
COMMAND = [sys.executable, "-m", "memci.http"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(**environment: str) -> Iterator[subprocess.Popen[str]]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("MEMCI_")}
    with subprocess.Popen(
        COMMAND, env=inherited | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as running:  # fmt: skip
        try:
            yield running
        finally:
            running.kill()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_and_stops_cleanly(
    database_url: str, broker_url: str, stop: signal.Signals
) -> None:
    port = free_port()
    with process(
        MEMCI_DATABASE_URL=database_url, MEMCI_BROKER_URL=broker_url, MEMCI_PORT=str(port)
    ) as api:

        def answers() -> bool:
            try:
                return httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
            except httpx.ConnectError:
                assert api.poll() is None, api.communicate()
                return False

        wait_until(answers, "the API answered", timeout_s=40)
        body = {"messages": [{"role": "user", "content": "hush-hush"}]}
        assert httpx.post(f"http://127.0.0.1:{port}/v1/agents/a/messages", json=body).is_success
        api.send_signal(stop)
        out, log = api.communicate(timeout=20)
        assert api.returncode == 0, log
        assert "no API keys" in log
        assert "hush-hush" not in out + log


def test_it_starts_fast_and_imports_nothing_heavy() -> None:
    # Time of the processor, and in proportion to what the frameworks take: machines differ.
    code = (
        "import sys, time; started = time.process_time()\n"
        "import fastapi, uvicorn, sqlalchemy.orm, psycopg, celery, httpx, pydantic_settings\n"
        "import prometheus_client, structlog; between = time.process_time()\n"
        "import memci.http.__main__; ended = time.process_time()\n"
        f"print([name for name in {HEAVY} if name in sys.modules])\n"
        "print((ended - started) / (between - started))"
    )
    ratios = []
    for _ in range(3):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        heavy, ratio = done.stdout.splitlines()
        assert heavy == "[]"
        ratios.append(float(ratio))
    assert min(ratios) < 7, ratios


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"MEMCI_HOST": "0.0.0.0"}, "refusing to bind to 0.0.0.0 without API keys"),  # noqa: S104
        ({"MEMCI_PORT": "many"}, "MEMCI_PORT"),
        ({"MEMCI_API_KEYS": '[{"name": "x", "hash": "secret-thing"}]'}, "MEMCI_API_KEYS__0__HASH"),
    ],
)
def test_wrong_settings_are_told_in_one_line(environment: dict[str, str], told: str) -> None:
    servers = {"MEMCI_DATABASE_URL": "postgresql://x", "MEMCI_BROKER_URL": "redis://x"}
    with process(**servers, **environment) as api:
        _, log = api.communicate(timeout=20)
    assert api.returncode == 1
    assert log.startswith("memci: ")
    assert told in log
    assert "secret-thing" not in log
    assert "Traceback" not in log
