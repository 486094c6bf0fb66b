"""What is pinned: asked and answered (R7)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StrictInt, StringConstraints, model_validator

from memci.domain.pages.pin import PinKind
from memci.shapes.base import Answer, ForeignId, Request, Text
from memci.shapes.pages import OVER

# A closed set that rules of the domain use too belongs to the surface as well.
__all__ = ["PinKind"]


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("must say something")
    return text


PinNumber = Annotated[StrictInt, Field(ge=1, le=2**62)]


class Pin(Request):
    """Keep a short text, or a message, in sight always, until unpin. It costs tokens each time."""

    text: Annotated[
        Annotated[Text, StringConstraints(max_length=65_536), AfterValidator(_said)] | None,
        Field(description="What is to stay in sight"),
    ] = None
    message: Annotated[ForeignId | None, Field(description="Id of a message, as found")] = None
    kind: PinKind = PinKind.NOTE

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.text is None) == (self.message is None):
            raise ValueError("expected either text or message")
        return self


class Unpin(Request):
    """Take a pinned text down."""

    pin: Annotated[PinNumber, Field(description="Its number, as the window shows it in brackets")]


class PinOut(Answer):
    """A pinned text."""

    pin: int = Field(description="Its number")
    kind: PinKind
    text: str
    by: str = Field(description="Who pinned it: agent, developer or detector")
    message: str | None = Field(None, description="Id of the message whose text it is")
    created_at: datetime
    user_id: str | None = Field(
        None, description="In whose sessions alone it is shown; null: in all"
    )


class PinChange(Answer):
    """What was pinned or taken down, and the tokens of the window."""

    pin: int
    tokens_before: int
    tokens_after: int
    over: int = Field(description=OVER)
    collapsed: list[str]


class PinList(Answer):
    """What is pinned: texts, the oldest first, and pages that the system does not hide."""

    pins: list[PinOut]
    pages: list[str]
    tokens: int = Field(description="What the texts take in every window")
