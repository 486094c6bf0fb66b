"""Only JSON values of a limited size leave the sandbox."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.commands.attp.outcome import MAX_DEPTH, NotJsonError, to_json_value

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(_JSON)
def test_json_values_are_unchanged(value: Any):
    assert to_json_value(value, 100_000) == value


@given(_JSON)
def test_the_size_limit_holds(value: Any):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        to_json_value(value, 20)
    except NotJsonError:
        return
    # Numbers count two characters each, escapes one.
    assert len(text) <= 20 * 20


def test_tuples_become_lists_and_integer_keys_become_text():
    assert to_json_value({1: (1, 2.5), "b": [True, None]}, 100) == {
        "1": [1, 2.5],
        "b": [True, None],
    }


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1, 2}, "x is of type set, which is no value of JSON: use sorted"),
        (b"a", "use .decode()"),
        (datetime.now(UTC), "use .isoformat()"),
        (timedelta(1), "use .total_seconds()"),
        (1j, "of type complex"),
        (object(), "use text, numbers"),
        (float("nan"), "x is nan, which is no number of JSON"),
        ([1, float("inf")], r"x\[1\] is inf"),
        (2**63, "above 2\\*\\*63"),
        ({(1, 2): 3}, "the keys of x must be text, not of type tuple"),
        ({"a": {"b": {3}}}, r"x\['a'\]\['b'\] is of type set"),
        ("a" * 101, "x is longer than 100 characters"),
        ({"a" * 101: 1}, "x is longer than 100 characters"),
        ([[]] * 60, "x is longer than 100 characters"),
    ],
)
def test_a_value_that_is_not_json_is_named_in_the_error(value: Any, message: str):
    with pytest.raises(NotJsonError, match=message):
        to_json_value(value, 100, "x")


def test_nested_shared_lists_exceed_the_limit_early():
    value: Any = ["x"]
    for _ in range(25):
        value = [value, value]
    with pytest.raises(NotJsonError, match="longer than 1000"):
        to_json_value(value, 1_000)


def test_a_list_that_contains_itself_is_refused():
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotJsonError, match=f"more than {MAX_DEPTH} levels"):
        to_json_value(value, 1_000)
