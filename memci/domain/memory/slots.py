"""Whose slot a new node takes when all are taken (M19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

DRAWN = 64


def draw(candidates: Sequence[int], random: Random) -> list[int]:
    """Draw the nodes of which the least important gives way; at most 64."""
    return random.sample(candidates, min(DRAWN, len(candidates)))


def least_important(importances: Mapping[int, float]) -> int:
    """Return the node with the least importance, the oldest of several."""
    return min(importances, key=lambda node: (importances[node], node))
