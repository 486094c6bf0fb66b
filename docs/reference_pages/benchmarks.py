"""The page of benchmarks: what each part measures."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.__main__ import PARTS, QUALITY_PARTS, RECALL
from docs.reference_pages.markdown import first_line, items, sentence
from docs.reference_pages.source import ROOT, parsed


def blocks() -> Iterator[str]:
    """Yield the blocks of benchmarks.md."""
    yield "The parts of `python -m benchmarks`; [how to measure](../how-to/measure.md) says how to read them."
    for title, parts in (
        ("Measured by default", PARTS),
        ("On conversations that you bring (`--data`)", (*QUALITY_PARTS, RECALL)),
    ):
        yield f"## {title}"
        yield items(f"`{part}`: {sentence(first_line(_module_text(part)))}" for part in parts)


def _module_text(part: str) -> str | None:
    found = [ROOT / f"benchmarks/{part}.py", ROOT / f"benchmarks/{part}/__init__.py"]
    (path,) = (each for each in found if each.exists())
    return ast.get_docstring(parsed(path))
