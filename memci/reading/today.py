"""The day on which a read is read: what is said of other days has its day beside it (R13)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from memci.domain.message import Message


def today(said: Sequence[Message], now: datetime | None = None) -> date:
    """Return the reader's day: where no time is given, by the clock of who spoke last."""
    zone = said[-1].said_at.tzinfo if said else UTC
    return (now or datetime.now(zone)).date()
