"""Questions about the previous conversation: "What did we discuss last time?" (R10).

Sessions and silence separate conversations.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from memci.language.loading import TaskData
from memci.language.question.intent import names_only_times
from memci.language.times.ranges import CERTAIN, TimeExpression, TimeRange

_DATA = TaskData("question")
_FLAGS = re.IGNORECASE | re.ASCII
_OURS = _DATA.patterns("ours", flags=_FLAGS)
_ANYBODYS = _DATA.patterns("anybodys", flags=_FLAGS)
_TALKING = _DATA.pattern("talking", flags=_FLAGS)
_WITH_YOU = _DATA.pattern("with_you", flags=_FLAGS)
_WE = _DATA.pattern("we", flags=_FLAGS)
_OTHERS = _DATA.pattern("others", flags=_FLAGS)
_ANOTHER = _DATA.pattern("another", flags=_FLAGS)
_ONE_BEFORE = _DATA.pattern("one_before", flags=_FLAGS)
_BEFORE_OR_AFTER = _DATA.pattern("before_or_after", flags=_FLAGS)


def find_last_session(text: str) -> tuple[int, int] | None:
    """Return (start, end) of the words for the previous conversation, or None."""
    if _ONE_BEFORE.search(text):
        return None
    found = next((match for each in _OURS if (match := each.search(text))), None)
    if found is not None and _OTHERS.search(text) and not _WITH_YOU.search(text):
        return None
    if found is None:
        anybodys = (match for each in _ANYBODYS if (match := each.search(text)))
        found = next((match for match in anybodys if _means_own_conversation(text, match)), None)
    if found is None or _means_other_conversation(text, found):
        return None
    return found.span()


def _means_own_conversation(text: str, found: re.Match[str]) -> bool:
    """Return True if a question that names no participants means the user's conversation."""
    if _OTHERS.search(text):
        return False
    is_named = not found[0].lower().endswith(("time", "次", "回"))
    if is_named and _WE.search(text):
        return True
    talking = list(_TALKING.finditer(text))
    places = sorted(match.span() for match in (found, *talking))
    return bool(talking) and names_only_times(text, [TimeExpression(*each, ()) for each in places])


def _means_other_conversation(text: str, found: re.Match[str]) -> bool:
    before = _ANOTHER.search(text[: found.start()])
    return bool(before) or _BEFORE_OR_AFTER.match(text, found.end()) is not None


# A silence of this length ends a conversation, even within a session.
PAUSE = timedelta(hours=6)
# A message of this age may be the question itself.
_AT_ONCE = timedelta(minutes=1)
_LEAST_SLACK = timedelta(hours=1)
_INSTANT = timedelta(microseconds=1)


class Conversation(NamedTuple):
    """A conversation from its first to its last message, both aware; ``session_id`` may be None."""

    session_id: str | None
    began: datetime
    ended: datetime

    def time(self) -> TimeRange:
        """Return the time range, restricted to the session."""
        slack = max(self.ended - self.began, _LEAST_SLACK)
        try:
            until = self.ended + _INSTANT
        except OverflowError:
            until = None  # the end of the calendar
        return TimeRange(self.began, until, CERTAIN, slack, session=self.session_id or "")

    def is_current(self, here: str | None, now: datetime) -> bool:
        """Return True if a question asked ``now`` in the session ``here`` belongs to it.

        A question without a session belongs to none, but a message may be the question itself.
        """
        silent = now - self.ended
        if self.session_id == here:
            return silent < PAUSE
        return here is None and silent < _AT_ONCE


def previous_conversation(
    messages: Iterable[tuple[str | None, datetime]], here: str | None, now: datetime
) -> Conversation | None:
    """Return the last conversation that is over, or None.

    ``messages``: their sessions and times, latest first, none after ``now``.
    """
    latest: dict[str | None, Conversation] = {}
    over: set[str | None] = set()
    for session_id, at in messages:
        talk = latest.get(session_id)
        if talk is None or (talk.is_current(here, now) and talk.began - at >= PAUSE):
            latest[session_id] = Conversation(session_id, at, at)
        elif session_id not in over and talk.began - at < PAUSE:
            latest[session_id] = talk._replace(began=at)
        else:
            over.add(session_id)
    ended = (each for each in latest.values() if not each.is_current(here, now))
    return max(ended, key=lambda each: each.ended, default=None)
