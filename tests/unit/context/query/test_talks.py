"""Conversations are told apart by their sessions and their silences (R10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memci.language.question import Talk
from memci.language.question.last_session import talk_before
from tests.support.asked_times import NOW

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def last(*said: tuple[str | None, float], here: str | None = None) -> tuple[object, ...] | None:
    """The session of the last conversation, and how many hours ago it began and ended."""
    by_time = sorted(said, key=lambda each: each[1])
    found = talk_before(((session, NOW - ago * HOUR) for session, ago in by_time), here, NOW)
    return found and (found[0], *((NOW - at) / HOUR for at in found[1:]))


@pytest.mark.parametrize(
    ("hours_ago", "expected"),
    [
        ((), None),
        ((7,), (None, 7, 7)),
        ((5,), None),  # it goes on
        ((1, 4, 8, 15, 16), (None, 16, 15)),
        ((7, 8, 12, 30), (None, 12, 7)),
        ((7, 13), (None, 7, 7)),  # six hours end one
    ],
)
def test_silences_cut_what_was_said_in_no_session(
    hours_ago: tuple[int, ...], expected: tuple[object, ...] | None
) -> None:
    assert last(*((None, ago) for ago in hours_ago)) == expected


def test_what_goes_on_here_is_none_yet() -> None:
    assert last(("a", 1), ("a", 2), ("b", 30), here="a") == ("b", 30, 30)
    assert last(("a", 1), ("a", 2), ("a", 40), ("b", 50), here="a") == ("a", 40, 40)
    assert last(("a", 20), ("b", 30), here="a") == ("a", 20, 20)
    assert last(("a", 1), here="a") is None


def test_elsewhere_it_may_be_over_since_an_hour() -> None:
    assert last(("a", 1), ("b", 30), here="new") == ("a", 1, 1)
    assert last((None, 1), ("b", 30), here="new") == (None, 1, 1)
    assert last(("a", 1), ("b", 30)) == ("a", 1, 1)


def test_who_names_no_session_may_have_said_it_in_one() -> None:
    assert last(("now", 0), ("a", 1)) == ("a", 1, 1)


def test_the_one_that_ended_last_counts_however_long_ago_it_began() -> None:
    assert last(("a", 10), ("b", 11), ("a", 12), ("b", 13)) == ("a", 12, 10)
    assert last(("trip", 50), ("garden", 200), ("trip", 400)) == ("trip", 50, 50)
    assert last((None, 1), ("letter", 150), (None, 1_200)) == ("letter", 150, 150)


def test_what_was_said_at_its_ends_is_of_it() -> None:
    time = Talk("a", NOW - 2 * HOUR, NOW - HOUR).time()
    assert time.fit(NOW - 2 * HOUR, "a") == time.fit(NOW - HOUR, "a") == 1
    assert time.fit(NOW, "a") == pytest.approx(0.5)
    assert Talk("a", NOW, NOW).time().fit(NOW - HOUR, "a") == 0.5


def test_what_was_said_elsewhere_is_not_of_it() -> None:
    time, loose = (Talk(each, NOW - HOUR, NOW).time() for each in ("a", None))
    assert time.fit(NOW, "b") == time.fit(NOW) == loose.fit(NOW, "a") == 0
    assert loose.fit(NOW) == 1


def test_one_may_end_with_the_calendar() -> None:
    end = datetime.max.replace(tzinfo=UTC)
    assert Talk("a", end - MINUTE, end).time().fit(end, "a") == 1
