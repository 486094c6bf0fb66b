"""TOML as we write it, for models to read: ``tomllib`` reads the same values back.

TOML has no null. A key whose value is None is left out; within a list None becomes ``{}``, so that
what follows keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Control characters but tab and newline, and halves of surrogate pairs.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Of a run of quotes that could be taken for the end of a text.
_CLOSING = re.compile(r'"(?=""|\Z)')
_QUOTE = r'\\"'
_SHORT = {"\b": "\\b", "\f": "\\f", "\r": "\\r"}


def to_toml(document: Mapping[str, Any]) -> str:
    """Write a document: its plain values first, then each mapping in it as a table."""
    lines = _pairs(document)
    for name, value in document.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(name)}]", *_pairs(value), *_inner(value)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{_key(name)} = {_long(value)}"
        for name, value in table.items()
        if value is not None and not isinstance(value, Mapping)
    ]


def _inner(table: Mapping[str, Any]) -> list[str]:
    """Write the mappings within a table, which stand in one line each."""
    return [
        f"{_key(inner)} = {_value(value)}"
        for inner, value in table.items()
        if isinstance(value, Mapping)
    ]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _short(name)


def _long(value: object) -> str:
    """Write a value that may take several lines."""
    if isinstance(value, str) and "\n" in value:
        return f'"""\n{_CLOSING.sub(_QUOTE, _escaped(value))}"""'
    return _value(value)


def _value(value: object) -> str:
    if value is None:
        return "{}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, Mapping):
        kept = (f"{_key(name)} = {_value(each)}" for name, each in value.items())
        shown = [pair for pair, each in zip(kept, value.values(), strict=True) if each is not None]
        return "{ " + ", ".join(shown) + " }" if shown else "{}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)


def _short(text: str) -> str:
    quoted = _escaped(text).replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{quoted}"'


def _escaped(text: str) -> str:
    whole = _SURROGATE.sub("\ufffd", text).replace("\\", "\\\\")
    return _UNPRINTABLE.sub(lambda found: _code(found.group()), whole)


def _code(character: str) -> str:
    return _SHORT.get(character) or f"\\u{ord(character):04X}"
