"""Writes docs/reference, and the chart of forgetting, from the code: ``make docs``.

A test compares the committed files with what this module makes of the code.
"""

from __future__ import annotations

from docs.reference_pages import (
    attp,
    benchmarks,
    commands,
    events,
    http,
    limits,
    metrics,
    settings,
    tools,
    window,
)
from docs.reference_pages.markdown import page
from docs.reference_pages.source import ROOT
from memci.domain.memory.parameters import MemoryParameters
from tests.support.document_examples import forgetting_chart


def generated() -> dict[str, str]:
    """Return the text of every file that is made from the code, by its path in docs."""
    return {
        "reference/settings.md": page("Settings", settings.blocks()),
        "reference/commands.md": page("Commands", commands.blocks()),
        "reference/http.md": page("HTTP", http.blocks()),
        "reference/limits.md": page("Limits", limits.blocks()),
        "reference/tools.md": page("Tools for models", tools.blocks()),
        "reference/events.md": page("Events", events.blocks()),
        "reference/metrics.md": page("Metrics", metrics.blocks()),
        "reference/attp.md": page("ATTP", attp.blocks()),
        "reference/window.md": page("A context window", window.blocks()),
        "reference/benchmarks.md": page("Benchmarks", benchmarks.blocks()),
        "images/forgetting.svg": forgetting_chart(MemoryParameters()),
    }


def main() -> None:
    """Write the files."""
    for name, text in generated().items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
