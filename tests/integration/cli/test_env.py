"""`memci settings env` tells producers where things are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg

from memci.embedded import own
from tests.support.command_line import run, run_json


def test_what_is_set_comes_back_quoted_for_a_shell():
    urls = {
        "MEMCI_BROKER_URL": "redis://:it's a $word@127.0.0.1:9/0",
        "MEMCI_DATABASE_URL": "postgresql://memci@127.0.0.1:9/memci?a=b&c=d",
    }
    done = run("settings", "env", settings=urls)
    assert done.returncode == 0
    script = done.stdout + 'printf "%s\\n" "$MEMCI_BROKER_URL" "$MEMCI_DATABASE_URL"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout.splitlines() == list(urls.values())


def test_what_is_not_set_is_where_the_embedded_servers_run(tmp_path: Path):
    settings = {"MEMCI_DATA_DIR": str(tmp_path / "data")}
    refused = run("settings", "env", settings=settings)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "`memci up`" in refused.stderr
    with own(tmp_path / "data") as servers:
        told = run_json("settings", "env", settings=settings)
        assert told["MEMCI_BROKER_URL"] == servers.addresses.broker_url
        # As psql takes it, and as memci does.
        with psycopg.connect(told["MEMCI_DATABASE_URL"]) as connection:
            assert connection.info.dbname == "memci"
        assert run("db", "upgrade", settings={**settings, **told}).returncode == 0
