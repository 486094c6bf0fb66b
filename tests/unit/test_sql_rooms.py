"""SQL is spoken in storage, and the lane's in queue; the embedded server makes its own database."""

from __future__ import annotations

from tests.support.fleet import ROOT

ROOMS = {"storage", "queue", "embedded"}


def test_nobody_else_runs_a_statement():
    package = ROOT / "memci"
    speakers = {
        path.relative_to(package).parts[0]
        for path in package.glob("*/**/*.py")
        if "exec_driver_sql(" in path.read_text()
    }
    assert {"storage", "queue"} <= speakers <= ROOMS
