"""No document takes more than linear time in any reader, as far as repeated texts show.

Processor time of the thread is measured; a file that a process reads too long is refused (R9).
"""

from __future__ import annotations

import gc
import time
from contextlib import suppress

import pytest

from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.formats import read_document

_UNITS = {
    "html": (
        "</", "<", "<!--", "<![", "<!", "<?", "<a ", '<a b="', "<a b=c ", "<nav>", "</nav>", "<p>a",
        "<td>", "<tr><th>a", "<table><tr><td>", "<h1>a", "<title>", "<script>", "<pre></pre>x",
        "&#",
    ),
    "md": (
        "[", "*", "`", "> ", "- a\n", "1. ", "# a\n", "|a|\n|-|\n", "a|b\n-|-\n", "<!--",
        "[a]: b\n",
    ),
    "csv": ('"', '""', "a,", "1,2\n", "word ", "é\n"),
    "json": ("[", '{"a":', '"', '{"a":1},', "9"),
    "jsonl": ("[", '{"a":1}\n'),
    "xml": ("<a>", "<", "&"),
    "txt": ("a", "a\n", "a. ", "\n", "字", "😀", "e\u0301", "_", " \n"),
    "py": ("(", "[", "a ", "def a():\n pass\n", "# a\n", "@a\n", '"'),
    "js": ("(", "{", "const a=()=>1,", "class A{", "`${"),
    "c": ("(", "*", "int a(){}\n", "struct a{int b;};\n"),
}  # fmt: skip
_SHORT, _LONG = 30_000, 120_000
# Seconds of a long text that are not looked at more closely, and that none may take.
_FEW, _MOST = 0.8, 20.0
# Linear growth is 4; constant parts, caches and noise change it.
_GROWTH = 9.0


def _seconds(body: bytes, ending: str) -> float:
    # A collection looks at all objects of the process, those of other tests too.
    gc.disable()
    try:
        began = time.thread_time()
        with suppress(UnreadableDocumentError):
            read_document(f"a.{ending}", body, ExtractionLimits())
        return time.thread_time() - began
    finally:
        gc.enable()


def _repeated(unit: str, length: int) -> bytes:
    return (unit * (length // len(unit))).encode()


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("ending", _UNITS)
def test_no_document_takes_more_than_linear_time(ending: str):
    slow = list[str]()
    for unit in _UNITS[ending]:
        whole = _seconds(_repeated(unit, _LONG), ending)
        if whole < _FEW:
            continue
        part = min(_seconds(_repeated(unit, _SHORT), ending) for _ in range(2))
        again = _seconds(_repeated(unit, _LONG), ending)
        if min(whole, again) / part > _GROWTH or again > _MOST:
            slow.append(f"{unit!r}: {part:.3f} s, then {again:.3f} s")
    assert not slow
