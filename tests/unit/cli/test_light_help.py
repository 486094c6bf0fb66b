"""Help is fast: it imports no library that takes long to import."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("alembic", "celery", "httpx", "numpy", "redis", "sqlalchemy", "torch")


def test_the_list_of_commands_imports_nothing_heavy() -> None:
    code = f"import sys, memci.cli.app; print([each for each in {HEAVY!r} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
