"""Checks of lists that are assembled on a real database."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from memci.reading.context import ContextReader
from memci.schemas.reads import ContextAnswer, ContextMessage, ContextRequest
from tests.support.stored import BEGIN, Reader


def assemble(
    reader: Reader, query: str | None = None, budget: int = 2_000, agent_id: str = "alice",
    **fields: Any,
) -> ContextAnswer:  # fmt: skip
    asked = {"now": BEGIN + timedelta(hours=1), **fields}
    request = ContextRequest(query=query, budget_tokens=budget, **asked)
    return ContextReader(*reader.parts).run(agent_id, request)


def text_of(message: ContextMessage) -> str:
    calls = [call.model_dump() for call in message.tool_calls or ()]
    written = json.dumps(calls, ensure_ascii=False, separators=(",", ":")) if calls else ""
    return (message.content or "") + written


def tokens_of(reader: Reader, answer: ContextAnswer, tokenizer: str = "o200k_base") -> int:
    count = reader.models.tokenizers.count(tokenizer)
    total = 3
    for message in answer.messages:
        calls = [call.model_dump() for call in message.tool_calls or ()]
        total += 4 + count(message.content or "")
        total += count(json.dumps(calls, ensure_ascii=False, separators=(",", ":"))) if calls else 0
    return total


def check(reader: Reader, answer: ContextAnswer, tokenizer: str = "o200k_base") -> None:
    """Check the laws of every assembly (R14, R16)."""
    assert answer.tokens == tokens_of(reader, answer, tokenizer) <= answer.budget_tokens
    assert sum(item.tokens for item in answer.items) + 3 == answer.tokens
    assert "".join(item.text for item in answer.items) == "".join(map(text_of, answer.messages))
    ids = [each for item in answer.items if item.section != "memory" for each in item.message_ids]
    assert len(ids) == len(set(ids)), "a message enters once"


def sections(answer: ContextAnswer) -> list[str]:
    seen: list[str] = []
    for item in answer.items:
        if item.section.value not in seen[-1:]:
            seen.append(item.section.value)
    return seen
