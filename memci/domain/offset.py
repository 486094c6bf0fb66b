"""The offset from UTC that a speaker's clock has: his "yesterday" is a day of his own (R4, R10).

Whole minutes, east of Greenwich positive; None is UTC. What is said at an offset is the same
instant, and comes in the same order, as in UTC: only its day and its hour are others.
"""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta, timezone

_MINUTE = timedelta(minutes=1)
# No zone is further away; PostgreSQL reads nothing that is.
_MOST = 16 * 60


def offset_of(at: datetime) -> int | None:
    """Return the offset of an aware time; None for UTC, and for what is no zone's."""
    minutes = (at.utcoffset() or timedelta()) // _MINUTE
    return minutes if minutes and abs(minutes) < _MOST else None


def at_offset(at: datetime, offset: int | None) -> datetime:
    """Return the same instant at an offset; as it is for UTC, as databases tell times."""
    return at.astimezone(_zone(offset)) if offset else at


def with_offset(at: datetime) -> datetime:
    """Return the same instant, aware, at its own offset in whole minutes.

    A naive time is taken for UTC. Raises ``OverflowError`` for what is no instant in UTC.
    """
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    return at_offset(at.astimezone(UTC), offset_of(at))


@functools.cache
def _zone(offset: int) -> timezone:
    return timezone(timedelta(minutes=offset))
