"""What pages and segments are named by, as it is asked (P1, P4)."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from memci.domain.pages.page import LONGEST_DESCRIPTION, LONGEST_NAME
from memci.shapes.base import Text

SEGMENT_PATTERN = r"^[a-z][a-z0-9_]{0,31}$"
INDEX_PATTERN = r"^[a-z][a-z0-9_]{0,31}-[0-9]{1,15}$"


def _index(text: str) -> str:
    """Return an index without what stands around it in headings: brackets and blanks."""
    index = text.strip()
    if index.startswith("[") and index.endswith("]"):
        index = index[1:-1].strip()
    if not re.fullmatch(INDEX_PATTERN, index):
        raise ValueError("expected the index of a page as the window shows it, such as usr-12")
    return index


Index = Annotated[
    Text,
    AfterValidator(_index),
    WithJsonSchema({"type": "string", "pattern": INDEX_PATTERN}),
    Field(description="Such as usr-12"),
]
Folder = Annotated[Index, Field(description="Folder, such as usr-0")]
Name = Annotated[
    Text,
    StringConstraints(min_length=1, max_length=LONGEST_NAME),
    Field(description="Short title"),
]
Description = Annotated[
    Text,
    StringConstraints(max_length=LONGEST_DESCRIPTION),
    Field(description="A sentence: all that shows while it is hidden"),
]


def _segment_id(text: str) -> str:
    if not re.fullmatch(SEGMENT_PATTERN, text):
        raise ValueError(
            "expected a short name of small letters a-z, digits and _, a letter first, such as plan"
        )
    return text


SegmentId = Annotated[
    Text,
    AfterValidator(_segment_id),
    WithJsonSchema({"type": "string", "pattern": SEGMENT_PATTERN}),
    Field(description="Small letters, digits and _, such as plan: its pages are plan-1, plan-2"),
]
