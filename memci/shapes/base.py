"""What all shapes share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


class Request(BaseModel):
    """Something sent to memci: an unknown field is an error, not silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """Something that memci answers."""

    model_config = ConfigDict(frozen=True)


def _storable(text: str) -> str:
    """Refuse what no UTF-8 database can hold: U+0000 and half a surrogate pair."""
    if "\x00" in text:
        raise ValueError("must not contain the character U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain half a surrogate pair") from None
    return text


Text = Annotated[str, AfterValidator(_storable)]
# Names that others gave to their things: message ids, sessions, users.
ForeignId = Annotated[Text, StringConstraints(min_length=1, max_length=256)]
Query = Annotated[Text, StringConstraints(max_length=65_536)]
BudgetTokens = Annotated[int, Field(ge=1, le=2_000_000)]
WaitMs = Annotated[int, Field(ge=0, le=30_000)]
Seq = Annotated[int, Field(ge=0, le=2**62)]
