"""The code that the pages describe: its files, and a runtime."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from memci.config.settings import load_settings
from memci.runtime import Runtime

ROOT = Path(__file__).parents[2]


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file of Python."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def runtime() -> Runtime:
    """Return a runtime that is never opened: it only says what there is."""
    return Runtime(
        load_settings(
            database_url="postgresql://nowhere/memci",
            broker_url="redis://nowhere",
            proxy_upstream_url="http://nowhere/v1",
        )
    )
