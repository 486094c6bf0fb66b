"""`memci settings env` prints the addresses that producers need."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg

from memci.embedded import own
from tests.support.command_line import run, run_json


def test_addresses_from_settings_are_quoted_for_a_shell():
    urls = {
        "MEMCI_BROKER_URL": "redis://:it's a $word@127.0.0.1:9/0",
        "MEMCI_DATABASE_URL": "postgresql://memci@127.0.0.1:9/memci?a=b&c=d",
    }
    done = run("settings", "env", settings=urls)
    assert done.returncode == 0
    script = done.stdout + 'printf "%s\\n" "$MEMCI_BROKER_URL" "$MEMCI_DATABASE_URL"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout.splitlines() == list(urls.values())


def test_other_addresses_are_those_of_the_embedded_servers(tmp_path: Path):
    settings = {"MEMCI_DATA_DIR": str(tmp_path / "data")}
    refused = run("settings", "env", settings=settings)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "`memci up`" in refused.stderr
    with own(tmp_path / "data") as servers:
        printed = run_json("settings", "env", settings=settings)
        assert printed["MEMCI_BROKER_URL"] == servers.addresses.broker_url
        # Both psql and memci accept it.
        with psycopg.connect(printed["MEMCI_DATABASE_URL"]) as connection:
            assert connection.info.dbname == "memci"
        assert run("db", "upgrade", settings=settings).returncode == 0
        assert run("db", "status", settings={**settings, **printed}).returncode == 0
