"""Items: what an agent's programs keep under names of their own (docs/frameworks.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    StringConstraints,
    model_validator,
)

from memci.domain.item_operators import OPERATORS, unknown_operator
from memci.shapes.base import Answer, Query, Request, Text
from memci.shapes.stored_json import JsonObject

# What an index row takes, with the agent's id.
_MOST_BYTES = 2_000
_LABELS = 32

Label = Annotated[Text, StringConstraints(min_length=1, max_length=512)]


def _fits(labels: tuple[str, ...]) -> tuple[str, ...]:
    if sum(len(each.encode()) + 4 for each in labels) > _MOST_BYTES:
        raise ValueError(f"must not be longer than {_MOST_BYTES} bytes in all")
    return labels


Namespace = Annotated[
    tuple[Label, ...],
    Field(max_length=_LABELS, description="A path, from the widest to the narrowest"),
    AfterValidator(_fits),
]
Limit = Annotated[StrictInt, Field(ge=0, le=1_000)]
Offset = Annotated[StrictInt, Field(ge=0, le=1_000_000)]


class ItemPlace(Request):
    """Where an item is."""

    namespace: Namespace
    key: Label

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _fits((*self.namespace, self.key))
        return self


class ItemIn(ItemPlace):
    """An item to keep, in the place of what was there."""

    value: JsonObject | None = Field(description="Null: the item is taken away")
    text: Annotated[Text, StringConstraints(max_length=262_144)] | None = Field(
        None, description="What it is searched by; null: it is not searched by words or meaning"
    )
    ttl_minutes: Annotated[float, Field(gt=0, le=5_000_000, allow_inf_nan=False)] | None = Field(
        None, description="It goes so long after it was last written or read"
    )


class ItemsIn(Request):
    """Items to keep and to take away, all or none; of one place the last one holds."""

    items: Annotated[tuple[ItemIn, ...], Field(min_length=1, max_length=1_000)]


class ItemsAnswer(Answer):
    """What became of them."""

    stored: int
    removed: int


class ItemPlaces(Request):
    """Items to read."""

    items: Annotated[tuple[ItemPlace, ...], Field(min_length=1, max_length=1_000)]
    refresh: StrictBool = Field(True, description="Reading puts off when they go")


class ItemOut(Answer):
    """One item."""

    namespace: list[str]
    key: str
    value: dict[str, JsonValue]
    created_at: datetime
    updated_at: datetime
    score: float | None = Field(None, description="How well it fits the query, if it does")


class ItemList(Answer):
    """Items; of those that were asked for by place, null where there is none."""

    items: list[ItemOut | None]


def _known_operators(condition: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Raise ``ValueError`` for an operator that is none: no item's value would fit it."""
    if (name := unknown_operator(condition)) is not None:
        raise ValueError(f"{name} is no operator: expected {', '.join(OPERATORS)}")
    return condition


class ItemSearch(Request):
    """Items below a namespace, whose values are so, best first if there is a query."""

    prefix: Namespace = ()
    filter: Annotated[JsonObject, AfterValidator(_known_operators)] | None = Field(
        None,
        description="Values by field: a value, an object of fields, or of `$eq`, `$ne`, `$gt`, "
        "`$gte`, `$lt` and `$lte`",
    )
    query: Query | None = None
    limit: Limit = 10
    offset: Offset = 0
    refresh: StrictBool = Field(True, description="Reading puts off when they go")


class NamespaceMatch(Request):
    """How a namespace begins or ends; ``*`` stands for any one label."""

    type: Literal["prefix", "suffix"]
    path: Namespace


class NamespaceSearch(Request):
    """Which namespaces hold items."""

    match: Annotated[tuple[NamespaceMatch, ...], Field(max_length=16)] = ()
    max_depth: Annotated[StrictInt, Field(ge=1, le=_LABELS)] | None = Field(
        None, description="Deeper ones are cut to so many labels"
    )
    limit: Limit = 100
    offset: Offset = 0


class NamespaceList(Answer):
    """Namespaces, in order."""

    namespaces: list[list[str]]
