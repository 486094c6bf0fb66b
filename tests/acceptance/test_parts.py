"""Every part of the Procfile is started, and stopped as a deployment stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memci.embedded import Servers
from tests.support import deployment, parts
from tests.support.fleet import ROOT
from tests.support.fork_server import fork_server
from tests.support.servers import frozen

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize("name", deployment.procfile())
def test_a_part_becomes_ready_and_ends_cleanly_on_sigterm(
    name: str, database_url: str, broker_url: str, tmp_path: Path
):
    misspelt = {"MEMCI_DATBASE_URL": "secret-of-mine"}
    with parts.start(name, database_url, broker_url, tmp_path, **misspelt) as part:
        part.wait_ready()
        assert part.stop() == 0, part.log_text[-3000:]
    warnings = [line for line in part.log_text.splitlines() if "MEMCI_DATBASE_URL" in line]
    assert len(warnings) == 1, "at the start, and once"
    assert "MEMCI_DATABASE_URL" in warnings[0]
    assert "secret-of-mine" not in part.log_text
    left_behind = {each.name for each in tmp_path.iterdir()} - {part.log.name}
    assert left_behind == set(), "a part writes nothing where it runs"
    assert "secret-of-flower" not in part.log_text
    assert "Traceback" not in part.log_text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_flower_ends_at_once_while_its_broker_is_silent(
    number: signal.Signals, own_servers: Servers, tmp_path: Path
):
    urls = own_servers.addresses
    with parts.start("flower", urls.database_url, urls.broker_url, tmp_path) as flower:
        flower.wait_ready()
        with frozen(own_servers.redis):
            flower.process.send_signal(number)
            assert flower.process.wait(5) == 0
    assert "Traceback" not in flower.log_text


def test_a_public_address_needs_keys(database_url: str, broker_url: str, tmp_path: Path):
    everywhere = "0.0.0.0"  # noqa: S104 - what a container sets; it is refused here
    with parts.start("api", database_url, broker_url, tmp_path, MEMCI_HOST=everywhere) as api:
        assert api.process.wait(60) == 1
    assert "memci keys new" in api.log_text
    assert "Traceback" not in api.log_text


def test_the_probe_distinguishes_a_worker_from_its_broker(own_servers: Servers, tmp_path: Path):
    urls = own_servers.addresses
    with parts.start("upkeep", urls.database_url, urls.broker_url, tmp_path) as upkeep:
        upkeep.wait_ready()
        assert _alive_and_ready(upkeep) == (0, 0)

        own_servers.redis.kill()
        assert _alive_and_ready(upkeep) == (0, 1)

        own_servers.redis.start()
        upkeep.wait_ready()
        assert _alive_and_ready(upkeep) == (0, 0)

        upkeep.stop()
        assert _alive_and_ready(upkeep) == (1, 1)


def test_the_probe_imports_nothing_heavy():
    """The probe runs every few seconds in each container."""
    code = (
        "import sys, workers.probe;"
        "print(sorted({'sqlalchemy', 'numpy', 'memci.runtime'} & set(sys.modules)))"
    )
    urls = {
        "MEMCI_DATABASE_URL": "postgresql://nowhere/memci",
        "MEMCI_BROKER_URL": "redis://nowhere",
    }
    printed = subprocess.check_output([sys.executable, "-c", code], env={**os.environ, **urls})
    assert printed.strip() == b"[]"


def _alive_and_ready(part: parts.Part) -> tuple[int, int]:
    """Return the exit codes of both probes, which run at the same time."""
    alive, ready = (
        fork_server().start(
            ["python", "-m", "workers.probe", part.name, *options],
            part.environment,
            ROOT,
            *[Path(os.devnull)] * 3,
        )
        for options in ([], ["--ready"])
    )
    return alive.wait(60), ready.wait(60)
