"""Parameters that several endpoints take."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias
from uuid import UUID

from fastapi import Header, Path, Query
from pydantic import AfterValidator, Field, WithJsonSchema

from memci.domain.agent import AGENT_ID_PATTERN
from memci.domain.pages.block import Format
from memci.shapes.base import ForeignId, Instant, Text

# The gate has checked it before any endpoint sees it; the pattern is for readers of the docs.
AgentId: TypeAlias = Annotated[str, Path(json_schema_extra={"pattern": f"^{AGENT_ID_PATTERN}$"})]
NodeId: TypeAlias = Annotated[int, Path(ge=0, le=2**63 - 1)]
ThingId: TypeAlias = Annotated[UUID, Path()]
Cursor: TypeAlias = Annotated[
    Annotated[Text, Field(max_length=512)] | None,
    Query(description="next_cursor of the page before; none for the first page"),
]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=500)]
AsOf: TypeAlias = Annotated[
    Instant | None,
    Query(description="What was believed then: ISO 8601, or an epoch number"),
]
SessionId: TypeAlias = Annotated[ForeignId | None, Query()]
WindowFormat: TypeAlias = Annotated[
    Format,
    Query(
        alias="format",
        description="How the window is written that the model sees: what fits, and tokens, are"
        " counted in it",
    ),
]
_KEY_PATTERN = r"^[\x21-\x7e]{1,255}$"


def _visible(key: str) -> str:
    if not re.fullmatch(_KEY_PATTERN, key):
        raise ValueError("expected 1 to 255 visible ASCII characters, without blanks")
    return key


IdempotencyKey: TypeAlias = Annotated[
    Annotated[
        str, AfterValidator(_visible), WithJsonSchema({"type": "string", "pattern": _KEY_PATTERN})
    ]
    | None,
    Header(
        alias="Idempotency-Key",
        description="1 to 255 visible characters; the same key again gives the same answer, once",
    ),
]
