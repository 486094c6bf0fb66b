"""What pydantic finds wrong, in plain words that say what to do and quote nothing that was sent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

# One entry of ``ValidationError.errors()``.
Fault: TypeAlias = Mapping[str, Any]

_TEXT = "expected text"
_WHOLE = "expected a whole number"
_NUMBER = "expected a number"
_LIST = "expected a list"
_OBJECT = "expected a JSON object"
_BOOLEAN = "expected true or false"
_TIME = "expected a time: ISO 8601 such as 2026-03-02T09:15:00Z, or an epoch number"
_ID = "expected a UUID, as an answer gave it"

_WORDS: Mapping[str, str] = {
    "missing": "required, but not given",
    "extra_forbidden": "there is no such field: leave it out, or look for its name in /docs",
    "string_type": _TEXT,
    "string_unicode": "expected text that UTF-8 can hold",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "expected a smaller number",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "expected a finite number",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "datetime_object_invalid": _TIME,
    "uuid_type": _ID,
    "uuid_parsing": _ID,
    "recursion_depth_exceeded": "nested too deep",
}

_WITH_LIMITS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "enum": lambda limits: f"expected one of: {_choices(limits['expected'])}",
    "literal_error": lambda limits: f"expected one of: {_choices(limits['expected'])}",
    "greater_than": lambda limits: f"expected more than {limits['gt']}",
    "greater_than_equal": lambda limits: f"expected {limits['ge']} or more",
    "less_than": lambda limits: f"expected less than {limits['lt']}",
    "less_than_equal": lambda limits: f"expected {limits['le']} or less",
    "too_short": lambda limits: _at_least(limits["min_length"], _counted(limits)),
    "too_long": lambda limits: f"expected at most {limits['max_length']} {_counted(limits)}",
    "string_too_short": lambda limits: _at_least(limits["min_length"], "characters"),
    "string_too_long": lambda limits: f"expected at most {limits['max_length']} characters",
    "string_pattern_mismatch": lambda limits: f"expected text of the form {limits['pattern']}",
}


def expectation(fault: Fault, known: Sequence[str] = ()) -> str:
    """Return what was expected instead; it stands after the name of the field and a colon.

    ``known``: the fields that there are beside an unknown one.
    """
    kind = str(fault["type"])
    if kind == "extra_forbidden" and known:
        return f"there is no such field; there are {', '.join(known)}"
    if kind in _WITH_LIMITS:
        return _WITH_LIMITS[kind](fault["ctx"])
    if kind in _WORDS:
        return _WORDS[kind]
    said = str(fault["msg"]).removeprefix("Value error, ")
    # The message begins a sentence; a word such as URL is written in capitals everywhere.
    return said if said[:2].isupper() else said[:1].lower() + said[1:]


def own_faults(faults: Sequence[Fault]) -> list[Fault]:
    """Leave out what only follows from others: a list is not too short because its items are bad.

    pydantic counts the items that are left after it has refused some.
    """
    inside = {fault["loc"][:depth] for fault in faults for depth in range(len(fault["loc"]))}
    return [each for each in faults if each["type"] != "too_short" or each["loc"] not in inside]


def _choices(expected: str) -> str:
    """Take the quotes off ``'a', 'b' or 'c'``."""
    return expected.replace("'", "").replace(" or ", ", ")


def _counted(limits: Mapping[str, Any]) -> str:
    """Text is a "Value" by the time that its length is looked at after another check."""
    return "characters" if limits["field_type"] == "Value" else "items"


def _at_least(least: int, counted: str) -> str:
    if least > 1:
        return f"expected at least {least} {counted}"
    return "must not be empty"
