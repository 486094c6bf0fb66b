"""Filters and orders items."""

from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")

# The weight of likeness; words have the rest.
_DENSE = 0.6


def rank_items(
    words: Mapping[Key, float], likeness: Mapping[Key, float] | None
) -> list[tuple[Key, float]]:
    """Return items by falling score, from 0 to 1.

    ``words``: BM25 of the items that contain a word of the query, scaled by the best. ``likeness``
    is None without a query; then only words count.
    """
    best = max(words.values(), default=0.0)
    scaled = {key: score / best for key, score in words.items()} if best > 0 else {}
    if likeness is None:
        scores = dict(scaled)
    else:
        keys = dict.fromkeys([*likeness, *scaled])
        scores = {
            key: _DENSE * max(likeness.get(key, 0.0), 0.0) + (1 - _DENSE) * scaled.get(key, 0.0)
            for key in keys
        }
    return sorted(scores.items(), key=lambda each: -each[1])


OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")
_KNOWN = frozenset(OPERATORS)


def is_comparison(expected: Mapping[str, object]) -> bool:
    """Return True if an object has operators and no fields."""
    return bool(expected) and expected.keys() <= _KNOWN


def unknown_operator(condition: Mapping[str, object]) -> str | None:
    """Return a name that begins with ``$`` or stands among operators, and is no operator."""
    for expected in condition.values():
        if not isinstance(expected, Mapping) or is_comparison(expected):
            continue
        if any(name.startswith("$") for name in expected):
            return str(min(expected.keys() - _KNOWN))
        if (name := unknown_operator(expected)) is not None:
            return name
    return None
