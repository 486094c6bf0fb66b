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


def test_an_agent_is_exported_and_imported(settings: dict[str, str], tmp_path: Path) -> None:
    file = str(tmp_path / "ada.zip")
    saved = run("agents", "export", "--agent", "ada", "-o", file, settings=settings)
    assert (saved.returncode, saved.stderr) == (0, "")
    assert saved.stdout.startswith(f"{file}: 26 messages, ")
    again = run("agents", "export", "--agent", "ada", "-o", file, settings=settings)
    assert (again.returncode, again.stdout) == (2, "")
    assert "use --force to replace it" in again.stderr
    made = run_json("agents", "export", "--agent", "ada", "-o", file, "--force", settings=settings)
    assert made["agent_id"] == "ada"
    refused = run("agents", "import", file, settings=settings)
    assert refused.returncode == 1
    assert "import under another id" in refused.stderr
    imported = run("agents", "import", file, "--agent", "eve", settings=settings)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.startswith("agent eve: 26 messages, ")
    assert "`memci jobs list --agent eve`" in imported.stderr


def test_an_invalid_archive_is_reported(settings: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    assert "there is no such file" in run("agents", "import", str(file), settings=settings).stderr
    file.write_bytes(b"PK")
    refused = run("agents", "import", str(file), settings=settings)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is no archive of an agent" in refused.stderr
