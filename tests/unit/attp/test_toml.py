"""Answers of memci are TOML that parses to the same values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.commands.attp.outcome import to_toml

_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    '"\\\n\t\r\x7f\x00中é', max_size=12
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | _TEXT
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4)
)


def _without_null(value: Any) -> Any:
    """Return the value that TOML keeps: no null in tables, ``{}`` for null in lists."""
    if isinstance(value, Mapping):
        return {name: _without_null(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [{} if each is None else _without_null(each) for each in value]
    return value


@given(st.dictionaries(_TEXT, _VALUES, max_size=5))
def test_written_documents_parse_to_the_same_values(document: dict[str, Any]):
    assert tomllib.loads(to_toml(document)) == _without_null(document)


@pytest.mark.parametrize(
    "text",
    [
        '"',
        '""',
        '"""',
        '""""',
        'a\n"',
        'a\n"""',
        'a\n""""b"""',
        "\n",
        "\n\n",
        "a\\\nb",
        "\r\n",
        "a\n\\",
    ],
)
def test_quotes_and_newlines_parse_to_the_same_text(text: str):
    assert tomllib.loads(to_toml({"x": text, "t": {"y": text, "z": [text]}})) == {
        "x": text,
        "t": {"y": text, "z": [text]},
    }


def test_a_lone_surrogate_is_replaced():
    assert tomllib.loads(to_toml({"x": "a\ud800"})) == {"x": "a\ufffd"}


def test_documents_are_written_with_tables_and_multiline_text():
    document = {
        "status": "success",
        "result": {"lines": "one\ntwo", "pages": ["usr-1", None]},
        "changes": {"tokens_before": 5, "of": {"a": 1}},
        "none": None,
    }
    assert to_toml(document) == (
        'status = "success"\n\n[result]\nlines = """\none\ntwo"""\npages = ["usr-1", {}]\n\n'
        "[changes]\ntokens_before = 5\nof = { a = 1 }\n"
    )
