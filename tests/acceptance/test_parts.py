"""Every line of the Procfile, started for real and stopped as a deployment stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memci.embedded import Servers
from memci.testing import frozen
from tests.support import deployment, parts

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize("name", deployment.procfile())
def test_a_part_becomes_ready_and_ends_well_on_sigterm(
    name: str, database_url: str, broker_url: str, tmp_path: Path
):
    misspelt = {"MEMCI_DATBASE_URL": "secret-of-mine"}
    with parts.start(name, database_url, broker_url, tmp_path, **misspelt) as part:
        part.wait_ready()
        assert part.stop() == 0, part.said[-3000:]
    warnings = [line for line in part.said.splitlines() if "MEMCI_DATBASE_URL" in line]
    assert len(warnings) == 1, "at the start, and once"
    assert "MEMCI_DATABASE_URL" in warnings[0]
    assert "secret-of-mine" not in part.said
    left_behind = {each.name for each in tmp_path.iterdir()} - {part.log.name}
    assert left_behind == set(), "a part writes nothing where it runs"
    assert "secret-of-flower" not in part.said
    assert "Traceback" not in part.said


def test_flower_shows_nothing_without_its_password(
    database_url: str, broker_url: str, tmp_path: Path
):
    with parts.start("flower", database_url, broker_url, tmp_path) as flower:
        flower.wait_ready()
        for path in ("/", "/workers", "/tasks", "/broker", "/api/workers", "/api/tasks"):
            assert flower.status("MEMCI_FLOWER_PORT", path) == 401, path


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
    assert "Traceback" not in flower.said


def test_an_address_for_others_needs_keys(database_url: str, broker_url: str, tmp_path: Path):
    everywhere = "0.0.0.0"  # noqa: S104 - what a container sets; it is refused here
    with parts.start("api", database_url, broker_url, tmp_path, MEMCI_HOST=everywhere) as api:
        assert api.process.wait(60) == 1
    assert "memci keys new" in api.said
    assert "Traceback" not in api.said


def test_the_probe_tells_a_worker_from_its_broker(own_servers: Servers, tmp_path: Path):
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


def test_the_probe_loads_nothing_of_what_workers_work_with():
    """It comes every few seconds to each container."""
    code = (
        "import sys, workers.probe;"
        "print(sorted({'sqlalchemy', 'numpy', 'memci.runtime'} & set(sys.modules)))"
    )
    urls = {
        "MEMCI_DATABASE_URL": "postgresql://nowhere/memci",
        "MEMCI_BROKER_URL": "redis://nowhere",
    }
    said = subprocess.check_output([sys.executable, "-c", code], env={**os.environ, **urls})
    assert said.strip() == b"[]"


def _alive_and_ready(part: parts.Part) -> tuple[int, int]:
    """Exit codes of the probe of either kind; both ask at once."""
    command = [sys.executable, "-m", "workers.probe", part.name]
    with (
        subprocess.Popen(command, env=part.environment) as alive,
        subprocess.Popen([*command, "--ready"], env=part.environment) as ready,
    ):
        return alive.wait(60), ready.wait(60)
