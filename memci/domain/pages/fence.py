"""What was said, fenced or on a line: none of it can look like the window's own words (P11)."""

from __future__ import annotations

import re

_FENCE = re.compile(r"`{3,}")
# What begins a heading, in Markdown or as text, and what opens a fence.
_MARK = re.compile(r"\s*(?:[#=]|`{3}|~{3})")


def fenced(text: str, label: str = "") -> str:
    """Fence a text by more backticks than it has anywhere in a row."""
    longest = max((len(match[0]) for match in _FENCE.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"


def plain_name(name: str | None) -> str:
    """Return what a speaker is called, without what could break a line or a fence."""
    return re.sub(r"[\s`]+", " ", name or "").strip()


def plain_line(line: str) -> str:
    """Return a line that stands alone and begins neither a heading nor a fence."""
    return f"\\{line}" if _MARK.match(line) else line
