from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.http.request import MalformedError, parse_json

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(VALUES, st.booleans())
def test_json_is_read_as_it_was_written(value: Any, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    assert parse_json(body) == value


@given(st.binary())
def test_other_bodies_raise_only_malformed_error(body: bytes) -> None:
    with suppress(MalformedError):
        parse_json(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": [{"b": 1, "b": 1}]}', "twice"),
        (b"NaN", "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"1e999", "out of every range"),
        (b"1" * 5000, "out of every range"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
        (b'"\xff"', "not UTF-8 (byte 1)"),
        (b'{"a":\n x}', "line 2, column 2"),
        ("\ufeff{}".encode(), "not JSON"),
        ("{}".encode("utf-16"), "not UTF-8"),
    ],
)
def test_the_error_says_what_is_wrong(body: bytes, message: str) -> None:
    with pytest.raises(MalformedError) as refused:
        parse_json(body)
    assert message in str(refused.value)
