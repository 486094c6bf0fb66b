"""Hints about the times of messages in files."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from memci.cli.commands.remember import hint_future, hint_times
from memci.cli.formats.parsed_file import Parsed
from memci.cli.formats.read import parse

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def parsed(*extra: dict[str, object]) -> Parsed:
    return parse("\n".join(json.dumps({"role": "user", "content": "Hi", **each}) for each in extra))


@pytest.mark.parametrize("name", ["sent_at", "said_at", "time", "date"])
def test_a_time_in_another_field_gives_a_hint_to_use_timestamp(name: str) -> None:
    hint = hint_times(parsed({name: "2026-03-02T09:15:00Z"}))
    assert hint is not None
    assert "`timestamp`" in hint
    assert f"not from {name};" in hint


@pytest.mark.parametrize(
    "fields", [{}, {"created_at": 5}, {"date": "x", "timestamp": 5}, {"colour": "red"}]
)
def test_there_is_no_hint_if_the_time_is_known_or_missing(
    fields: dict[str, object],
) -> None:
    assert hint_times(parsed(fields)) is None


def test_a_time_in_the_future_is_reported_with_its_place() -> None:
    found = parsed({"timestamp": "2026-03-03T09:15:00Z"}, {"timestamp": "2026-03-03T09:15:01Z"}, {})
    hint = "1 message has a time in the future: line 2, message 1 (2026-03-03T09:15:01Z)"
    assert hint_future(found, NOW) in (hint, hint.replace(", message 1", ""))
    assert hint_future(parsed({"timestamp": 1.0}, {}), NOW) is None
