"""The context window of an agent: asked for and answered (P11, P12)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from memci.domain.pages.block import Format
from memci.shapes.base import Answer, BudgetTokens, ForeignId, Request
from memci.shapes.pages import NEW_SESSION
from memci.shapes.read import ContextMessage


class WindowRequest(Request):
    """Which window is meant, and how it is written."""

    session_id: ForeignId | None = None
    budget_tokens: BudgetTokens | None = None
    format: Format = Format.MARKDOWN


class WindowAnswer(Answer):
    """The context window: its messages, and exactly how many tokens they take."""

    messages: list[ContextMessage]
    tokens: int
    by_segment: dict[str, int]
    collapsed: list[str] = Field(description="What was hidden to fit, in that order")
    over: int = Field(description="Tokens by which what must stay is over the budget; 0: it fits")
    session_id: str | None
    new_session: bool = Field(False, description=NEW_SESSION)
    tokenizer: str

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the messages as plain dicts, as chat APIs and their clients take them."""
        return [each.model_dump(mode="json") for each in self.messages]
