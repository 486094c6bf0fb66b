"""Which tier a new memory belongs to (R3)."""

from __future__ import annotations

from datetime import datetime, timedelta

from memci.domain.memory.node import NodeTier
from memci.domain.memory.parameters import MemoryParameters

# The calendar ends: a memory that would outlast it is not judged anew.
_LONGEST = timedelta(days=365 * 1_000)


def tier_of(
    worth: float, received_at: datetime, parameters: MemoryParameters
) -> tuple[NodeTier, datetime | None]:
    """Return the tier of a memory, and when a short one is to be judged anew.

    ``worth``: 0 to 10. ``received_at``: when the newest of its messages came in, aware UTC.
    """
    if not parameters.tiered_memory_enabled or worth >= parameters.long_term_importance_threshold:
        return NodeTier.LONG, None
    hours = min(parameters.short_term_ttl_hours, _LONGEST / timedelta(hours=1))
    return NodeTier.SHORT, received_at + timedelta(hours=hours)
