"""SQL is run by storage and queue alone; the embedded server makes its own database."""

from __future__ import annotations

from tests.support.fleet import ROOT

PACKAGES = {"storage", "queue", "embedded"}


def test_no_other_package_runs_a_statement():
    package = ROOT / "memci"
    speakers = {
        path.relative_to(package).parts[0]
        for path in package.glob("*/**/*.py")
        if "exec_driver_sql(" in path.read_text()
    }
    assert {"storage", "queue"} <= speakers <= PACKAGES
