"""Laws of times with offsets (R10): the instant stays, and the day is that of the speaker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from memci.language.question.analysis import analyse
from memci.language.times.calendar import at_offset, offset_of, with_offset
from memci.schemas.messages import AppendRequest, MessageIn
from memci.schemas.reads import SearchRequest

MINUTES = st.integers(-15 * 60 - 59, 15 * 60 + 59)
zones = MINUTES.map(lambda minutes: timezone(timedelta(minutes=minutes)))
# In every time zone, these are valid dates.
FIRST, LAST = datetime.fromisoformat("0002-01-01"), datetime.fromisoformat("9998-12-31")
times = st.datetimes(FIRST, LAST, timezones=zones)


@given(times)
def test_a_time_stored_in_utc_is_read_with_its_offset(at: datetime) -> None:
    stored = at.astimezone(UTC), offset_of(at)
    local = at_offset(*stored)
    assert local == at
    assert (local.date(), local.time(), local.utcoffset()) == (at.date(), at.time(), at.utcoffset())
    assert (stored[1] is None) == (not at.utcoffset())


@given(times, st.booleans())
def test_a_timestamp_keeps_its_offset_in_json(at: datetime, in_utc: bool) -> None:
    sent = at.astimezone(UTC) if in_utc else at
    message = {"role": "user", "content": "x", "timestamp": sent.isoformat()}
    request = AppendRequest.model_validate({"messages": [message]})
    again = AppendRequest.model_validate_json(request.model_dump_json())
    said_at = again.messages[0].to_domain().said_at
    assert said_at is not None
    assert (said_at, said_at.isoformat()) == (at, sent.isoformat())


@given(st.datetimes(FIRST, LAST))
def test_a_timestamp_without_offset_is_utc(at: datetime) -> None:
    message = MessageIn.model_validate({"role": "user", "content": "x", "timestamp": at})
    assert message.timestamp == at.replace(tzinfo=UTC)
    assert message.timestamp.tzinfo is UTC


@given(times, st.timedeltas(timedelta(hours=16), timedelta(hours=23)), st.sampled_from([1, -1]))
def test_an_offset_of_no_time_zone_is_read_as_utc(at: datetime, far: timedelta, sign: int) -> None:
    odd = at.astimezone(timezone(sign * far))
    assert with_offset(odd) == at
    assert with_offset(odd).tzinfo is UTC


@given(times, st.sampled_from(["What did I say yesterday?", "昨天我说了什么？"]))
def test_yesterday_is_a_day_in_the_time_zone_of_the_asker(now: datetime, question: str) -> None:
    request = SearchRequest.model_validate_json(
        SearchRequest(query=question, now=now).model_dump_json()
    )
    assert request.now is not None
    (time,) = analyse(question, request.now).times
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    assert (time.since, time.until) == (midnight - timedelta(days=1), midnight)
