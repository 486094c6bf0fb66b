"""Exact token counts of message lists (R14), and which tokenizer counts for which model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memci.message import JsonObject, Message, Role

MESSAGE_OVERHEAD = 4  # of a chat format, for each message
LIST_OVERHEAD = 3  # … and for the list, to prime the answer

Count: TypeAlias = Callable[[str], int]

DEFAULT_TOKENIZER = "o200k_base"
_TOKENIZERS = ("o200k_base", "cl100k_base")
# The first matching prefix decides. Other models count as o200k_base.
_BY_PREFIX = (
    ("gpt-4o", "o200k_base"),
    ("gpt-4.", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35", "cl100k_base"),
    ("text-embedding-", "cl100k_base"),
)


def tokenizer_of(model: str | None, default: str = DEFAULT_TOKENIZER) -> str:
    """Return the tokenizer of a model, such as ``gpt-4`` or ``openai/gpt-4``, or of itself.

    An unknown model counts as o200k_base; no model at all as ``default``.
    """
    if model is None:
        return default
    name = model.rsplit("/", 1)[-1].lower()
    if name in _TOKENIZERS:
        return name
    return next((found for prefix, found in _BY_PREFIX if name.startswith(prefix)),
                DEFAULT_TOKENIZER)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of an assembled list."""

    role: Role
    content: str | None
    name: str | None = None
    tool_calls: tuple[JsonObject, ...] = ()
    tool_call_id: str | None = None

    @classmethod
    def of(cls, message: Message) -> Utterance:
        """Return a stored message as an utterance."""
        return cls(
            message.role, message.content, message.name, message.tool_calls, message.tool_call_id
        )

    @property
    def text(self) -> str:
        """The counted text: its content, then its tool calls as compact JSON."""
        return (self.content or "") + self.calls

    @property
    def calls(self) -> str:
        """Its tool calls as compact JSON; empty when it makes none."""
        if not self.tool_calls:
            return ""
        calls = [dict(each) for each in self.tool_calls]
        return json.dumps(calls, ensure_ascii=False, separators=(",", ":"))

    def tokens(self, count: Count) -> int:
        """Tokens of content and tool calls, and of the message as such."""
        calls = self.calls
        return count(self.content or "") + (count(calls) if calls else 0) + MESSAGE_OVERHEAD


def message_tokens(messages: Sequence[Message], count: Count) -> int:
    """Tokens that stored messages take in a list."""
    return sum(Utterance.of(each).tokens(count) for each in messages)


def fitting(texts: Sequence[str], budget: int | None, count: Count, *, joint: str) -> list[int]:
    """Return the indexes of the texts that fit, in order, with ``joint`` between them.

    Greedy: a text that does not fit is skipped. The joined text is within the budget exactly, even
    where token counts do not add up.
    """
    if budget is None or count(joint.join(texts)) <= budget:
        return list(range(len(texts)))
    taken: list[int] = []
    free, between = budget, count(joint)
    for place, text in enumerate(texts):
        tokens = count(text) + (between if taken else 0)
        if tokens <= free:
            taken.append(place)
            free -= tokens
    while taken and count(joint.join(texts[place] for place in taken)) > budget:
        taken.pop()
    return taken
