"""Names of code symbols, as people write them in questions."""

from __future__ import annotations

import re

# C++ and Rust write ::, PHP ->, Ruby and Java's documentation #.
_JOINTS = re.compile(r"::|->|#")
_CALL = re.compile(r"\(.*$", re.DOTALL)


def qualified(name: str) -> str:
    """Return a name with dots between its parts, without arguments: ``Foo.bar``."""
    return _JOINTS.sub(".", _CALL.sub("", name.strip())).strip(". ")


def last_part(name: str) -> str:
    """Return the last part of a qualified name, in small letters: the key of the symbol index."""
    return name.rpartition(".")[2].lower()
