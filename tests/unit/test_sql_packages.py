"""Only storage and queue run SQL; the embedded server also creates its own database."""

from __future__ import annotations

from tests.support.fleet import ROOT

PACKAGES = {"storage", "queue", "embedded"}


def test_no_other_package_runs_a_statement():
    package = ROOT / "memci"
    found = {
        path.relative_to(package).parts[0]
        for path in package.glob("*/**/*.py")
        if "exec_driver_sql(" in path.read_text()
    }
    assert {"storage", "queue"} <= found <= PACKAGES
