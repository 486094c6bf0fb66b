"""The latest or the earliest of several occasions first, where a question asks for it (R11)."""

from __future__ import annotations

from datetime import date

from memci.domain.context.candidate import SAID
from memci.domain.context.fusion import Ranked
from memci.domain.context.query.order import Order

# What scores less than so much of the best is of something else.
_ALIKE = 0.55
# What the outermost day gains, if it fits as well as the best; each further one gains less.
_GAIN = 1.0
_FADE = 0.7


def in_order(found: list[Ranked], order: Order | None) -> list[Ranked]:
    """Return what was found with better scores for what is outermost in time, unsorted.

    Where no order is asked for it is what was given.

    Days count, not messages: a conversation about the occasion is one.
    """
    said = [each for each in found if each.candidate.source in SAID]
    best = max((each.score for each in said), default=0.0)
    if order is None or best <= 0:
        return found
    least = _ALIKE * best
    days = {each.candidate.at.date() for each in said if each.score > least}
    outermost_first = sorted(days, reverse=order is Order.LATEST)
    gains = {day: _GAIN * _FADE**place for place, day in enumerate(outermost_first)}
    return [_gaining(each, gains, least, best) for each in found]


def _gaining(each: Ranked, gains: dict[date, float], least: float, best: float) -> Ranked:
    if each.candidate.source not in SAID or each.score <= least:
        return each
    fits = (each.score - least) / (best - least)
    return Ranked(each.candidate, each.score + fits * gains[each.candidate.at.date()], each.ranks)
