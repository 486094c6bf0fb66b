"""Whose slot a new node takes when all are taken (M19)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

DRAWN = 64


def draw(candidates: Sequence[int], random: Random) -> list[int]:
    """Draw a lot of at most 64 nodes, of which the least important gives way."""
    return random.sample(candidates, min(DRAWN, len(candidates)))


def least_important(lots: Iterable[Iterable[int]], importances: Mapping[int, float]) -> set[int]:
    """Return one victim of each lot, none twice: the least important, the oldest of several.

    A lot whose nodes are all victims of earlier lots has none.
    """
    victims: set[int] = set()
    for lot in lots:
        left = [node for node in lot if node not in victims]
        if left:
            victims.add(min(left, key=lambda node: (importances[node], node)))
    return victims
