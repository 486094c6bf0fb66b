"""What a model's answer has to look like, and reading it.

The schema that a provider is sent has types only: limits in it are refused by some. They are
checked here, whatever the provider promised.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from memci.errors import SmallModelAnswerError

# Reasoning before the answer, and a fence around it, as small models write them unasked.
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL | re.IGNORECASE)
_LIMITS = frozenset(
    {"title", "default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
)


def _clean(text: str) -> str:
    return text.replace("\x00", "").strip()


def _line(text: str) -> str:
    return " ".join(_clean(text).split())


Text = Annotated[str, AfterValidator(_clean)]
Line = Annotated[str, AfterValidator(_line)]


class Shape(BaseModel):
    """An answer: all of it, and nothing else."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Cuts(Shape):
    """Numbers of the messages with which a topic begins, from 1."""

    starts: Annotated[list[int], Field(max_length=1_000)]


class Notes(Shape):
    """What a text is about."""

    phrase: Line
    keywords: Annotated[list[Line], Field(max_length=40)]
    entities: Annotated[list[Line], Field(max_length=40)]
    type: Literal["episodic", "semantic", "procedural"]


class Relations(Shape):
    """A relation for each focus point, in their order."""

    relations: Annotated[list[Line], Field(max_length=100)]


class Shorter(Shape):
    """The text in fewer characters."""

    text: Text


class Verdict(Shape):
    """Whether a text is worth keeping for long, and how much."""

    eligible: bool
    worth: Annotated[float, Field(ge=0, le=10)]


class Summary(Shape):
    """What a conversation came to."""

    summary: Text


class Plan(Shape):
    """What to search for, best first."""

    queries: Annotated[list[Line], Field(max_length=20)]


class Names(Shape):
    """What an interaction is called and was about, and a line for each message, in their order."""

    name: Line
    description: Line
    lines: Annotated[list[Line], Field(max_length=100)]


ShapeT = TypeVar("ShapeT", bound=Shape)


def schema_of(shape: type[Shape]) -> dict[str, Any]:
    """Return the JSON schema that a provider is asked to keep to."""
    schema: dict[str, Any] = _without_limits(shape.model_json_schema())
    schema.pop("description", None)
    return schema


def read_answer(text: str, shape: type[ShapeT]) -> ShapeT:
    """Read an answer, or raise ``SmallModelAnswerError``, which quotes none of it."""
    stripped = _THOUGHT.sub("", text, count=1)
    fenced = _FENCED.match(stripped)
    try:
        return shape.model_validate_json(fenced[1] if fenced else stripped)
    except ValidationError as error:
        kinds = sorted({each["type"] for each in error.errors(include_input=False)})
        raise SmallModelAnswerError(
            f"the model's answer is not the JSON that was asked for: {', '.join(kinds)}"
        ) from None


def _without_limits(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_limits(value)
            for key, value in schema.items()
            if key not in _LIMITS or isinstance(value, dict)
        }
    return schema
