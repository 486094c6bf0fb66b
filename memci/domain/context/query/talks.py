"""Conversations, told apart by their sessions and their silences (R10)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from memci.domain.context.query.time_range import CERTAIN, TimeRange

# After so long a silence another conversation begins, in a session as well.
PAUSE = timedelta(hours=6)
# What is said now by whoever asks.
_AT_ONCE = timedelta(minutes=1)
_LEAST_SLACK = timedelta(hours=1)
_INSTANT = timedelta(microseconds=1)


class Talk(NamedTuple):
    """A conversation from its first to its last message, both aware; None: in no session."""

    session_id: str | None
    began: datetime
    ended: datetime

    def time(self) -> TimeRange:
        """Return the stretch of time that it took, as its session has it."""
        slack = max(self.ended - self.began, _LEAST_SLACK)
        try:
            until = self.ended + _INSTANT
        except OverflowError:
            until = None  # with the calendar
        return TimeRange(self.began, until, CERTAIN, slack, session=self.session_id or "")

    def goes_on(self, here: str | None, now: datetime) -> bool:
        """Tell whether it is the one in which something is asked ``now``, in the session ``here``.

        Who names no session asks in none; but a message of any may be the question itself.
        """
        silent = now - self.ended
        if self.session_id == here:
            return silent < PAUSE
        return here is None and silent < _AT_ONCE


def talk_before(
    said: Iterable[tuple[str | None, datetime]], here: str | None, now: datetime
) -> Talk | None:
    """Return the last conversation that does not go on; None: there was none.

    ``said``: the sessions and times of messages, the latest first, and none after ``now``.
    """
    latest: dict[str | None, Talk] = {}
    over: set[str | None] = set()
    for session_id, at in said:
        talk = latest.get(session_id)
        if talk is None or (talk.goes_on(here, now) and talk.began - at >= PAUSE):
            latest[session_id] = Talk(session_id, at, at)
        elif session_id not in over and talk.began - at < PAUSE:
            latest[session_id] = talk._replace(began=at)
        else:
            over.add(session_id)
    ended = (each for each in latest.values() if not each.goes_on(here, now))
    return max(ended, key=lambda each: each.ended, default=None)
