"""The end of a time span, as callers write it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest
from pydantic import TypeAdapter, ValidationError

from memci.schemas.base import Until
from memci.schemas.reads import Filters
from memci.schemas.tools.memory import FilterMemory, Search

NEXT_DAY = datetime(2026, 11, 17, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-16", NEXT_DAY),
        (date(2026, 11, 16), NEXT_DAY),
        ("2024-02-28", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2026-11-16T00:00:00Z", NEXT_DAY - timedelta(days=1)),
        ("2026-11-16T09:30:00", datetime(2026, 11, 16, 9, 30, tzinfo=UTC)),
        (datetime(2026, 11, 16, tzinfo=UTC), NEXT_DAY - timedelta(days=1)),
        (1_763_251_200, datetime(2025, 11, 16, tzinfo=UTC)),
    ],
)
def test_a_day_is_included_to_its_end(written: object, expected: datetime):
    assert TypeAdapter(Until).validate_python(written) == expected


@pytest.mark.parametrize("written", ["9999-12-31", "2026-02-30", "tomorrow", "", True, [1]])
def test_a_value_that_is_no_time_is_refused(written: object):
    with pytest.raises(ValidationError):
        TypeAdapter(Until).validate_python(written)


def test_a_parsed_filter_is_parsed_again_to_the_same_value():
    """Workers get requests in their parsed form."""
    filters = Filters.model_validate({"since": "2026-11-16", "until": "2026-11-16"})
    assert (filters.since, filters.until) == (NEXT_DAY - timedelta(days=1), NEXT_DAY)
    assert Filters.model_validate_json(filters.model_dump_json()) == filters
    assert Filters.model_validate(filters.model_dump()) == filters


@pytest.mark.parametrize("shape", [Filters, FilterMemory, partial(Search, query="tea")])
@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("2026-11-02", "2026-11-01"),
        ("2026-11-02T09:00:00Z", "2026-11-02T10:00:00+01:00"),
    ],
)
def test_an_empty_span_is_refused(shape, since, until):
    with pytest.raises(ValidationError, match="expected since to be before until"):
        shape(since=since, until=until)


@pytest.mark.parametrize("shape", [Filters, FilterMemory, partial(Search, query="tea")])
def test_one_day_is_a_span(shape):
    asked = shape(since="2026-11-02", until="2026-11-02")
    assert asked.until - asked.since == timedelta(days=1)
