"""The type stub of the tools agrees with the tool table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.client_stub import STUB, stub
from tests.support.fleet import ROOT

USE = """
from memci import AsyncMemci, Memci
memory = Memci().agent("ada")
reveal_type(memory.move_page("usr-1", "usr-0"))
reveal_type(memory.find_pages("words", limit=3))
reveal_type(AsyncMemci().agent("ada").get_page)
memory.move_page("usr-1")
memory.create_segment(id="rules", name="Rules", kind="nonsense")
"""


def test_the_stub_is_generated_from_the_table():
    assert STUB.read_text() == stub(), "run: python -m tests.support.client_stub"


def test_mypy_in_strict_mode_knows_the_types_of_tools(tmp_path: Path):
    (tmp_path / "use.py").write_text(USE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"),
         str(tmp_path / "use.py")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    output = done.stdout
    assert 'use.py:4: note: Revealed type is "memci.schemas.pages.PageChange"' in output
    assert 'use.py:5: note: Revealed type is "memci.schemas.pages.PageList"' in output
    assert "Coroutine[Any, Any, memci.schemas.pages.PageText]" in output
    assert "use.py:7: error: Too few arguments" in output
    assert 'use.py:8: error: Argument "kind"' in output
    assert "Found 2 errors" in output
