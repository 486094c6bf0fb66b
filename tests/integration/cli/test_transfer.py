"""``memci agents export`` and ``memci agents import``, against a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.http.serving import Served
from tests.support.command_line import run, run_json
from tests.support.complete_agent import complete_agent


@pytest.fixture
def settings(server: Served) -> dict[str, str]:
    complete_agent(server.runtime.database)
    return {"MEMCI_API_URL": server.url}


def test_an_agent_is_saved_and_brought_back(settings: dict[str, str], tmp_path: Path) -> None:
    file = str(tmp_path / "ada.zip")
    saved = run("agents", "export", "--agent", "ada", "-o", file, settings=settings)
    assert (saved.returncode, saved.stderr) == (0, "")
    assert saved.stdout.startswith(f"{file}: 23 messages, ")
    again = run("agents", "export", "--agent", "ada", "-o", file, settings=settings)
    assert (again.returncode, again.stdout) == (2, "")
    assert "use --force to replace it" in again.stderr
    told = run_json("agents", "export", "--agent", "ada", "-o", file, "--force", settings=settings)
    assert told["agent_id"] == "ada"
    there = run("agents", "import", file, settings=settings)
    assert there.returncode == 1
    assert "import under another id" in there.stderr
    brought = run("agents", "import", file, "--agent", "eve", settings=settings)
    assert brought.returncode == 0, brought.stderr
    assert brought.stdout.startswith("agent eve: 23 messages, ")
    assert "`memci jobs list --agent eve`" in brought.stderr


def test_what_is_no_archive_is_told(settings: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    assert "there is no such file" in run("agents", "import", str(file), settings=settings).stderr
    file.write_bytes(b"PK")
    told = run("agents", "import", str(file), settings=settings)
    assert (told.returncode, told.stdout) == (2, "")
    assert "is no archive of an agent" in told.stderr
