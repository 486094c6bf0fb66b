"""Times of a question as tests write them: first and last day, "~" for any year."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memci.language.question.analysis import analyse
from memci.language.times.ranges import TimeRange

# A Tuesday.
NOW = datetime(2023, 5, 9, 15, tzinfo=UTC)


def times(question: str, now: datetime = NOW) -> list[str]:
    return [shown(each) for each in analyse(question, now).times]


def shown(time: TimeRange) -> str:
    first = time.since.date().isoformat() if time.since else ""
    last = (time.until - timedelta(days=1)).date().isoformat() if time.until else ""
    days = first if first == last else f"{first}..{last}"
    return f"~{days}" if time.yearly else days
