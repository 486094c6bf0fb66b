"""What the reading of a question tells a ranking (R10, R11)."""

from __future__ import annotations

from collections.abc import Callable

from memci.domain.context.query import Analysis, Asks, holds
from memci.domain.context.scaled import Hints, Wanted

_WANTED = {Asks.WHEN: Wanted.TIME, Asks.HOW_MANY: Wanted.NUMBER}


def hints_of(analysis: Analysis) -> Hints:
    """Return what raises a candidate: who speaks, when, of what, and which kind of answer."""
    return Hints(
        speakers=analysis.speakers,
        fits=analysis.time_fit if analysis.times else None,
        holds=_share_of(analysis.entity_keys) if analysis.entity_keys else None,
        wanted=_WANTED.get(analysis.asks),
    )


def _share_of(keys: frozenset[str]) -> Callable[[str], float]:
    return lambda text: len(holds(text, keys)) / len(keys)
