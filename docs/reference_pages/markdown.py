"""Writes the Markdown of pages: paragraphs, lists, sentences and values."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from enum import Enum
from typing import Any

from pydantic import SecretStr

WIDTH = 120
_RULES = re.compile(r" ?\((?:[MPR]\d|[a-z-]+\.md)[^)]*\)")
_MADE = "<!-- Made from the code by `make docs`: do not edit. -->"


def page(title: str, blocks: Iterable[str]) -> str:
    """Return a page: its title, and its blocks with an empty line before each."""
    text = "\n\n".join([f"# {title}", _MADE, *blocks])
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def item(text: str) -> str:
    """Return an item of a list, in lines of at most WIDTH characters."""
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def items(texts: Iterable[str]) -> str:
    """Return a list with an item for each text."""
    return "\n".join(map(item, texts))


def paragraph(text: str) -> str:
    """Return a paragraph, in lines of at most WIDTH characters."""
    return item(text)[2:].replace("\n  ", "\n")


def sentence(text: str | None) -> str:
    """Return a text that ends as a sentence does, without ids of rules; "" of none."""
    told = _RULES.sub("", " ".join((text or "").split())).replace("``", "`")
    return told if not told or told[-1] in ".:…?!" else f"{told}."


def first_line(text: str | None) -> str:
    """Return what a docstring says before its first empty line."""
    return (text or "").strip().partition("\n\n")[0]


def literal(value: Any) -> str:
    """Return a value as it is written in the environment; "–" of none."""
    if value is None or (isinstance(value, (str, tuple)) and not value):
        return "–"
    if isinstance(value, SecretStr):
        return "`…`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value}`"
