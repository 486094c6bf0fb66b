"""Requests can set all parameters, each within the range of the domain."""

from __future__ import annotations

import json
from math import inf

import pytest
from pydantic import ValidationError

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.domain.parameter_definitions import Setting, settings_of
from memci.errors import InvalidInputError
from memci.schemas.agents import SettingsRequest

PARAMETERS = settings_of(MemoryParameters) | settings_of(PageRules)
SCHEMA = SettingsRequest.model_json_schema()["properties"]


def parameters_with(name: str) -> MemoryParameters | PageRules:
    return PageRules() if hasattr(PageRules(), name) else MemoryParameters()


def error_for(name: str, value: float) -> str | None:
    try:
        SettingsRequest(**{name: value})
    except ValidationError as error:
        return str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    return None


def test_every_parameter_can_be_set():
    assert set(SettingsRequest.model_fields) == PARAMETERS.keys()


def test_integers_are_limited_to_those_of_the_database():
    assert MemoryParameters(delete_threshold=2**31 - 1).delete_threshold == 2**31 - 1
    with pytest.raises(InvalidInputError, match="between 1 and 2147483647"):
        MemoryParameters(delete_threshold=2**31)


@pytest.mark.parametrize(
    ("name", "declared"), [each for each in PARAMETERS.items() if each[1].limits]
)
def test_the_error_for_a_value_out_of_range_names_both_limits(name: str, declared: Setting):
    limits = declared.limits
    assert limits is not None
    whole = isinstance(declared.default, int)
    for end in (limits.low, limits.high):
        if end == inf:
            continue
        beyond = end + (1 if end > limits.low else -1)
        inside = declared.default if limits.is_open else end
        SettingsRequest.model_validate({name: inside})
        declared.check(name, inside)
        message = error_for(name, end if limits.is_open else beyond)
        assert message == str(limits)
        assert f"{end:.12g}" in message
        with pytest.raises(InvalidInputError) as refused:
            parameters_with(name).with_values({name: int(beyond) if whole else beyond})
        assert (str(refused.value), refused.value.field) == (message, name)


def test_the_limits_are_in_the_json_schema():
    assert SCHEMA["decay_rate"]["anyOf"][0] == {
        "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1,
    }  # fmt: skip
    assert SCHEMA["delete_threshold"]["anyOf"][0] == {
        "type": "integer", "minimum": 1, "maximum": 2**31 - 1,
    }  # fmt: skip
    assert SCHEMA["short_term_ttl_hours"]["anyOf"][0] == {"type": "number", "exclusiveMinimum": 0}
    json.dumps(SCHEMA, allow_nan=False)
