"""One shape for all ways in: what OpenAI's clients write is read alike over HTTP and Celery."""

from __future__ import annotations

from typing import Any

import pytest

from memci.message import Role
from memci.schemas.messages import AppendRequest, CreateArguments

PARTS = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": {}}]


@pytest.mark.parametrize(
    ("shape", "beside"), [(AppendRequest, {}), (CreateArguments, {"agent_id": "a"})]
)
def test_developers_and_parts_are_read(shape: type[AppendRequest], beside: dict[str, Any]):
    said = {"role": "developer", "content": PARTS, "refusal": None, "annotations": []}
    (message,) = shape.model_validate({"messages": [said], **beside}).messages
    assert (message.role, message.content) == (Role.SYSTEM, "a\nb")
    assert message.size_bytes == 3
