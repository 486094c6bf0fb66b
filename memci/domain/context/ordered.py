"""The latest or the earliest of several occasions first, where a question asks for it (R11)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import TypeAlias

from memci.domain.context.candidate import SAID, Candidate
from memci.domain.context.fusion import Ranked
from memci.domain.context.query.order import Order

# How well what was said at a time, in a session, fits those that a question names: 0 to 1.
Fits: TypeAlias = Callable[[datetime, str | None], float]

# What scores less than so much of the best is of something else.
_ALIKE = 0.55
# What the outermost day gains, if it fits as well as the best; each further one gains less.
_GAIN = 1.0
_FADE = 0.7
_ASKING = ("?", "\uff1f")


def in_order(found: list[Ranked], order: Order | None, fits: Fits | None) -> list[Ranked]:
    """Return what was found with better scores for what is outermost in time, unsorted.

    Days count, not messages: a conversation about the occasion is one. Who asks tells of none, and
    of a time that is named it is one inside. Where no order is asked for it is what was given.
    """
    best = max((each.score for each in found), default=0.0)
    if order is None or best <= 0:
        return found
    least = _ALIKE * best
    near = [each for each in found if each.score > least and _tells(each.candidate, fits)]
    days = sorted({_day(each) for each in near}, reverse=order is Order.LATEST)
    gains = {day: _GAIN * _FADE**place for place, day in enumerate(days)}
    gained = {each.key: (each.score - least) / (best - least) * gains[_day(each)] for each in near}
    return [
        Ranked(each.candidate, each.score + gained.get(each.key, 0.0), each.ranks) for each in found
    ]


def _tells(found: Candidate, fits: Fits | None) -> bool:
    """Tell whether it may be one of the occasions."""
    if found.source not in SAID or found.text.rstrip().endswith(_ASKING):
        return False
    return fits is None or fits(found.at, found.session_id) >= 1


def _day(found: Ranked) -> date:
    return found.candidate.at.date()
