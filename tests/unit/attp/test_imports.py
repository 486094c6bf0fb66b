"""Only five modules can be imported; other imports are found, with their line, in code alone."""

from __future__ import annotations

import pytest

from memci.commands.attp.sandbox_functions import (
    ALLOWED,
    Import,
    first_forbidden_import,
    import_refusal,
)


@pytest.mark.parametrize(
    "code",
    [
        *(f"import {name}" for name in ALLOWED),
        "import math, json as j, re",
        "from datetime import datetime, timedelta as td",
        "from math import *",
        'text = """\nimport os\n"""',
        "x = 'import os'  # import os",
        "important = 1",
        "raise ValueError from error",
        "def f():\n  yield from (1, 2)",
        "this is ( no python",
        "",
    ],
)
def test_allowed_imports(code: str):
    assert first_forbidden_import(code) is None


@pytest.mark.parametrize(
    ("code", "module", "line"),
    [
        ("import os", "os", 1),
        ("x = 1\nimport math, sys", "sys", 2),
        ("from os import path", "os", 1),
        ("from os.path import join", "os.path", 1),
        ("import os.path as p", "os.path", 1),
        ("from . import x", ".", 1),
        ("from .. math import x", "..math", 1),
        ("if True: import os", "os", 1),
        ("x = 1; import os; y = 2", "os", 1),
        ("def f():\n    import subprocess\n", "subprocess", 2),
        ("try:\n  pass\nexcept: import os", "os", 3),
        ("from json import (\n  loads,\n)\nimport os", "os", 4),
        ("import \\\n  os", "os", 1),
        ("import os\nthis is ( no python", "os", 1),
        ("import mathx", "mathx", 1),
        ("import ｏｓ", "ｏｓ", 1),
    ],
)
def test_forbidden_imports_are_found_with_their_line(code: str, module: str, line: int):
    assert first_forbidden_import(code) == Import(module, line)


def test_a_refusal_names_an_alternative():
    assert "mean, median and stdev" in import_refusal("statistics")
    assert "no files" in import_refusal("os.path")
    assert import_refusal("numpy").endswith("at hand without it")
