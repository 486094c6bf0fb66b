"""A question as it was read (R10), for those who want to know why they found what they found."""

from __future__ import annotations

from datetime import datetime

from pydantic import JsonValue

from memci.domain.context.query import Analysis, TimeRange
from memci.domain.language import Language
from memci.errors import SmallModelError
from memci.smallmodel.ports import QueryPlanner


def analysis_account(analysis: Analysis) -> dict[str, JsonValue]:
    """Return what was read out of a question, as ``explain`` tells it.

    ``times`` are pairs of ISO 8601: from, and before; null where a time is open at that end.
    """
    return {
        "language": analysis.language.value,
        "entities": list(analysis.entities),
        "speakers": [*sorted(analysis.speakers)],
        "times": [_pair(each) for each in analysis.times],
        "complexity": round(analysis.complexity, 3),
        "k": analysis.k,
        "parts": list(analysis.parts),
        "asks": analysis.asks.value,
        "order": analysis.order and analysis.order.value,
    }


def planned(planner: QueryPlanner | None, text: str, language: Language) -> list[str]:
    """Return what a planner wants searched beside a question; nothing where it does not answer.

    Calls a model: open no transaction around it. A read never fails for want of a plan.
    """
    if planner is None:
        return []
    try:
        return planner.plan(text, language)
    except SmallModelError:
        return []


def _pair(time: TimeRange) -> list[JsonValue]:
    return [_written(time.since), _written(time.until)]


def _written(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
