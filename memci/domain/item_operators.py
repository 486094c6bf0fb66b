"""How the value of an item's field is compared with one that a search names."""

from __future__ import annotations

from collections.abc import Mapping

OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")
_KNOWN = frozenset(OPERATORS)


def is_comparison(expected: Mapping[str, object]) -> bool:
    """Tell whether an object names operators, and no fields."""
    return bool(expected) and expected.keys() <= _KNOWN


def unknown_operator(condition: Mapping[str, object]) -> str | None:
    """Return what stands among operators, or begins as they do, and is none of them."""
    for expected in condition.values():
        if not isinstance(expected, Mapping) or is_comparison(expected):
            continue
        if any(name.startswith("$") for name in expected):
            return str(min(expected.keys() - _KNOWN))
        if (name := unknown_operator(expected)) is not None:
            return name
    return None
