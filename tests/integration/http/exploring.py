"""Runs schemathesis against the documented API."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.integration.http.serving import Served
from tests.support.examples import examples, is_long

ROOT = Path(__file__).parents[3]


def explore(server: Served, folder: Path, *selection: str) -> None:
    """Send valid and invalid requests; fail if an answer does not fit the documented API."""
    options = [
        *selection,
        "--phases", "examples,coverage,fuzzing" if is_long() else "examples,fuzzing",
        "--max-examples", str(examples(20)),
        "--checks", "all",
        # A JSON schema cannot say which fields go together, or which ids exist.
        "--exclude-checks", "positive_data_acceptance",
        "--request-timeout", "90",  # tests may keep the machine busy
        "--no-color",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SCHEMATHESIS_HOOKS": "tests.integration.http.hooks",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
