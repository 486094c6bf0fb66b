"""Parameters over the surface: all of them, each held to the range of the domain."""

from __future__ import annotations

import json
from dataclasses import fields
from math import inf

import pytest
from pydantic import ValidationError

from memci.domain.agent import OPEN, RANGES
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.errors import InvalidInputError
from memci.schemas.settings import SettingsRequest

SCHEMA = SettingsRequest.model_json_schema()["properties"]


def parameters_with(name: str) -> MemoryParameters | PageRules:
    return PageRules() if hasattr(PageRules(), name) else MemoryParameters()


def said_of(name: str, value: float) -> str | None:
    try:
        SettingsRequest(**{name: value})
    except ValidationError as error:
        return str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    return None


def test_every_parameter_can_be_set():
    known = {each.name for kind in (MemoryParameters, PageRules) for each in fields(kind)}
    assert set(SettingsRequest.model_fields) == known


def test_no_whole_number_is_greater_than_what_the_database_counts_with():
    assert MemoryParameters(delete_threshold=2**31 - 1).delete_threshold == 2**31 - 1
    with pytest.raises(InvalidInputError, match="between 1 and 2147483647"):
        MemoryParameters(delete_threshold=2**31)


@pytest.mark.parametrize("name", RANGES)
def test_what_is_out_of_range_is_told_both_ends_of_it(name: str):
    low, high = RANGES[name]
    inside = SettingsRequest.model_validate({name: None if name in OPEN else low})
    assert inside.model_dump()[name] in (None, low)
    told = said_of(name, low if name in OPEN else low - 1)
    assert told is not None
    assert f"{low:g}" in told
    if high < inf:
        assert f"{high:g}" in told
        assert said_of(name, high if name in OPEN else high + 1) == told
        with pytest.raises(InvalidInputError) as refused:
            parameters_with(name).with_values({name: high + 1})
        assert (str(refused.value), refused.value.field) == (told, name)


def test_the_ends_are_documented_in_json_that_all_can_read():
    assert SCHEMA["decay_rate"]["anyOf"][0] == {
        "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1,
    }  # fmt: skip
    assert SCHEMA["delete_threshold"]["anyOf"][0] == {
        "type": "integer", "minimum": 1, "maximum": 2**31 - 1,
    }  # fmt: skip
    assert SCHEMA["short_term_ttl_hours"]["anyOf"][0] == {"type": "number", "exclusiveMinimum": 0}
    json.dumps(SCHEMA, allow_nan=False)
