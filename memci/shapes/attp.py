"""ATTP: what a model answered, and what it is answered (page-tree.md P15)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, JsonValue

from memci.shapes.base import Answer, Request, Text
from memci.shapes.pages import OVER

LONGEST_ANSWER = 100_000


class AttpStatus(StrEnum):
    """How a call went."""

    SUCCESS = "success"
    FAIL = "fail"


class AttpRequest(Request):
    """What a model answered, as it is: TOML, with or without a fence and prose around it.

    Of more than 100,000 characters nothing is done, and our answer tells the model so.
    """

    text: Text


class AttpChanges(Answer):
    """What a call changed: pages that were asked for, pages that were hidden to fit, and tokens."""

    pages: list[str]
    collapsed: list[str]
    tokens_before: int
    tokens_after: int
    over: int = Field(description=OVER)


class AttpAnswer(Answer):
    """What the model's code came to; ``text`` says it in TOML, for the model."""

    text: str
    status: AttpStatus
    target: str = Field("", description="What the model said its call is about")
    result: JsonValue = Field(None, description="What the code left in __result__")
    printed: str = ""
    error: str | None = Field(None, description="Why nothing was done, and what to do next")
    changes: AttpChanges | None = Field(None, description="Null when nothing was run")
