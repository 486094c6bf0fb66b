"""Messages of OpenAI clients are read in the same way over HTTP and Celery."""

from __future__ import annotations

from typing import Any

import pytest

from memci.message import Role
from memci.schemas.messages import AppendRequest, CreateArguments

PARTS = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": {}}]


@pytest.mark.parametrize(
    ("shape", "fields"), [(AppendRequest, {}), (CreateArguments, {"agent_id": "a"})]
)
def test_developers_and_parts_are_read(shape: type[AppendRequest], fields: dict[str, Any]):
    sent = {"role": "developer", "content": PARTS, "refusal": None, "annotations": []}
    (message,) = shape.model_validate({"messages": [sent], **fields}).messages
    assert (message.role, message.content) == (Role.SYSTEM, "a\nb")
    assert message.size_bytes == 3
