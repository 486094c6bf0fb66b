"""Every fenced block of every page is run, on one shared memci, or is checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memci.embedded import Postgres, Redis
from memci.testing import database_copy
from tests.support import command_line, parts
from tests.support.databases import migration_url
from tests.support.documented import DOCS, README, WRITTEN, Shell, blocks
from tests.support.model_server import model_server, says
from tests.support.producers import deploy

# The tutorial creates the agents that the other pages read.
FIRST = [DOCS / "tutorial.md", README]
ORDER = [*FIRST, *(path for path in WRITTEN if path not in FIRST)]
FILES = {
    "guide/porto.md": "# Museums\n\nThe museum opens at nine, on Sundays at ten.\n",
    "guide/old/lisbon.md": "# Trams\n\nTram 28 leaves from Graça.\n",
    "chat.jsonl": '{"role": "user", "content": "The train to Porto leaves at 9:40."}\n',
    "A.toml": "[memory]\nk_max = 6\n",
    "B.toml": "[memory]\nk_max = 12\n",
}
# An agent to erase; no other page uses it.
DORA = [
    {"id": "dora-1", "role": "user", "content": "Someone left a yellow umbrella on the tram."},
    {"id": "dora-2", "role": "user", "content": "My piano weighs two hundred kilos."},
]


@pytest.fixture
def served(
    shared_postgres: Postgres, process_redis: Redis, tmp_path: Path
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """A whole memci: the settings of commands, and replacements for addresses in pages."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ExitStack() as stack:
        model = stack.enter_context(model_server())
        model.rest = says("Mia keeps bees.")
        url = stack.enter_context(database_copy(shared_postgres))
        stack.enter_context(deploy(url, process_redis.url, folder))
        # Jobs that reads request are found by the sweep.
        stack.enter_context(parts.start("beat", url, process_redis.url, folder))
        api = stack.enter_context(
            parts.start("api", url, process_redis.url, folder, MEMCI_PROXY_UPSTREAM_URL=model.url)
        )
        api.wait_ready()
        address = f"http://127.0.0.1:{api.environment['MEMCI_PORT']}"
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("OPENAI_API_KEY", "none")
        settings = {
            "MEMCI_API_URL": address,
            "MEMCI_DATABASE_URL": url,
            "MEMCI_MIGRATION_URL": migration_url(url),
            "MEMCI_BROKER_URL": process_redis.url,
            "MEMCI_DATA_DIR": str(tmp_path / "data"),
        }
        yield (
            settings,
            {
                "Memci.local()": f'Memci("{address}")',
                "http://127.0.0.1:8000": address,
                "http://127.0.0.1:11434/v1": model.url,
            },
        )


@pytest.mark.timeout(500)
def test_every_block_runs(served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings, addresses = served
    monkeypatch.setenv("OPENAI_BASE_URL", addresses["http://127.0.0.1:11434/v1"])
    # `eval "$(memci settings env)"` sets it for a producer's program.
    monkeypatch.setenv("MEMCI_BROKER_URL", settings["MEMCI_BROKER_URL"])
    remembered = command_line.run(
        "remember",
        "-",
        "--agent",
        "dora",
        "--session",
        "monday",
        settings=settings,
        standard_input=json.dumps(DORA),
    )
    assert remembered.returncode == 0, remembered.stderr
    faults = []
    for path in ORDER:
        folder = tmp_path / path.stem
        for name, content in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        monkeypatch.chdir(folder)
        faults += [f"{path.name}: {fault}" for fault in run_page(path, folder, settings, addresses)]
    assert not faults, "\n\n".join(faults)


def run_page(
    path: Path, folder: Path, settings: dict[str, str], addresses: dict[str, str]
) -> list[str]:
    """Run the blocks of a page until the first fault; return the faults."""
    shell, printed = Shell(folder, settings, addresses), ""
    shell.names["your_model"] = lambda messages: messages
    try:
        for block in blocks(path):
            if block.language == "output":
                missing = [line for line in block.text.splitlines() if line not in printed]
                assert not missing, f"{missing} is not in what was printed:\n{printed}"
            else:
                printed = shell.run(block)
    except Exception as fault:  # noqa: BLE001 - all pages are tried
        return [f"{type(fault).__name__}: {fault}"]
    finally:
        shell.close()
    return []
