"""Fences around what was said: nothing inside can look like the window's own words (P11)."""

from __future__ import annotations

import re

_FENCE = re.compile(r"`{3,}")


def fenced(text: str, label: str = "") -> str:
    """Fence a text by more backticks than it has anywhere in a row."""
    longest = max((len(match[0]) for match in _FENCE.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"
