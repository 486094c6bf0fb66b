"""Names of code symbols, as people write them in questions."""

from __future__ import annotations

import re
from collections.abc import Iterable

# C++ and Rust write ::, PHP ->, Ruby and Java's documentation #.
_JOINTS = re.compile(r"::|->|#")
# What is written as names in programs are, and no word of a language: with an underscore, a great
# letter inside, a joint, a bracket behind it, or between back-ticks.
_IN_QUESTION = re.compile(
    r"`([^`\s]{1,200})`|(?<![\w.])((?:[A-Za-z_]\w*(?:\.|::|->|#))+[A-Za-z_]\w*(?:\(\))?"
    r"|[A-Za-z_]\w*\(\)|[A-Za-z]\w*_\w+|_\w+|[A-Za-z]+[a-z0-9][A-Z]\w*)"
)
_MOST_NAMES = 8
_CALL = re.compile(r"\(.*$", re.DOTALL)


def qualified(name: str) -> str:
    """Return a name with dots between its parts, without arguments: ``Foo.bar``."""
    return _JOINTS.sub(".", _CALL.sub("", name.strip())).strip(". ")


def last_part(name: str) -> str:
    """Return the last part of a qualified name, in small letters: the key of the symbol index."""
    return name.rpartition(".")[2].lower()


def symbols_in(question: str) -> tuple[str, ...]:
    """Return what a question names as programs do, with dots between parts; at most 8 names."""
    found = (qualified(match[1] or match[2]) for match in _IN_QUESTION.finditer(question))
    return tuple(dict.fromkeys(each for each in found if each))[:_MOST_NAMES]


def is_named(symbol: str, names: Iterable[str]) -> bool:
    """Tell whether a qualified symbol is one of the names, or ends with one, in any letters."""
    whole = symbol.lower()
    return any(whole == name.lower() or whole.endswith(f".{name.lower()}") for name in names)
