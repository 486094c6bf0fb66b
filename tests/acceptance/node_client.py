"""The client for TypeScript, on a running memci: ``make test-node``.

Not collected with the other tests: it needs Node.js and npm packages, which ``npm ci`` installs in
clients/typescript. It fails without them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import parts
from tests.support.fleet import ROOT
from tests.support.producers import deploy

pytestmark = pytest.mark.timeout(300)

_FOLDER = ROOT / "clients/typescript"


def test_the_client_on_a_running_server(database_url: str, broker_url: str, tmp_path: Path):
    with (
        deploy(database_url, broker_url, tmp_path),
        parts.start("api", database_url, broker_url, tmp_path) as api,
    ):
        api.wait_ready()
        address = f"http://127.0.0.1:{api.environment['MEMCI_PORT']}"
        done = subprocess.run(
            ["npm", "test"],
            cwd=_FOLDER,
            env={**os.environ, "MEMCI_API_URL": address},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_the_package_contains_the_client_and_its_types(tmp_path: Path):
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    packed = ["npm", "pack", "--silent", "--pack-destination", str(tmp_path)]
    subprocess.run(packed, cwd=_FOLDER, check=True)
    (archive,) = tmp_path.glob("memci-*.tgz")
    installed = ["npm", "install", "--offline", "--no-audit", str(archive)]
    subprocess.run(installed, cwd=tmp_path, check=True)
    program = tmp_path / "program.ts"
    program.write_text(
        'import { Memci, type SearchAnswer } from "memci";\n'
        'const found: Promise<SearchAnswer> = new Memci().agent("a").search("x");\n'
        "found.then(console.log, (error) => console.log(error.name));\n"
    )
    tsc = [_FOLDER / "node_modules/.bin/tsc", "--strict", "--module", "nodenext"]
    subprocess.run([*tsc, "--target", "es2022", program], cwd=tmp_path, check=True)
    says = "import('./program.js').then(() => 0)"
    done = subprocess.run(
        ["node", "-e", says], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "ConnectionError\n"
