"""What the reading of a question tells a ranking (R10, R11)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from memci.domain.context.query import Analysis, Asks, holds
from memci.domain.context.scaled import Hints, Wanted
from memci.domain.context.timed import Timed
from memci.domain.documents.symbol import is_named

_WANTED = {Asks.WHEN: Wanted.TIME, Asks.HOW_MANY: Wanted.NUMBER}


def hints_of(analysis: Analysis, names: Collection[str] = (), timed: Timed | None = None) -> Hints:
    """Return what raises a candidate: who speaks, when, of what, and which kind of answer.

    ``names`` are those of code that the question asks for; ``timed``: what is a hit by its time.
    """
    return Hints(
        speakers=analysis.speakers,
        fits=analysis.time_fit if analysis.times else None,
        holds=_share_of(analysis.entity_keys) if analysis.entity_keys else None,
        wanted=_WANTED.get(analysis.asks),
        names=(lambda symbol: is_named(symbol, names)) if names else None,
        timed=timed or Timed(),
        order=analysis.order,
    )


def _share_of(keys: frozenset[str]) -> Callable[[str], float]:
    return lambda text: len(holds(text, keys)) / len(keys)
