"""Trials: recorded questions, asked once more under two settings (R11)."""

from __future__ import annotations

import re
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from memci.domain.agent import AGENT_ID_PATTERN
from memci.schemas.base import Answer, ForeignId
from memci.schemas.reads import ContextRequest


def _agent_id(text: str) -> str:
    if not re.fullmatch(AGENT_ID_PATTERN, text):
        raise ValueError("expected the id of an agent")
    return text


class RecordedQuestion(ContextRequest):
    """One line of a file of questions: a request of a context, whose it was, what it came to."""

    agent: Annotated[str, AfterValidator(_agent_id)]
    receipt_id: UUID | None = Field(None, description="Of the context that was given then")
    evidence: tuple[ForeignId, ...] = Field(
        (), description="Ids of the messages that answer it, where somebody knows them"
    )


class TrialContext(Answer):
    """The context that one of the settings gives."""

    tokens: int
    took_ms: float = Field(description="Without the way to a context worker and back")
    message_ids: list[str] = Field(description="Whose words are in it, but for the question itself")
    recall: float | None = Field(None, description="Share of the evidence in it, 0 to 1")


class Trial(Answer):
    """One question, under both settings."""

    agent: str
    query: str | None
    evidence: list[str]
    first: TrialContext
    second: TrialContext
    both: list[str] = Field(description="Messages that both contexts hold")
    recorded: list[str] | None = Field(
        None, description="Messages in the context that was given then; null: no receipt is left"
    )


class TrialTotals(Answer):
    """What one of the settings came to, over all questions."""

    name: str
    mean_tokens: float
    mean_messages: float
    p50_ms: float
    p95_ms: float
    recall: float | None = Field(description="Mean over the questions whose evidence is known")
    as_recorded: float | None = Field(
        description="Share of the messages given then that are given now, as a mean; null: no "
        "receipt is left"
    )


class TrialsAnswer(Answer):
    """Both settings side by side."""

    first: TrialTotals
    second: TrialTotals
    overlap: float = Field(
        description="Messages in both contexts ÷ messages in either, as a mean over the questions"
    )
    with_evidence: int = Field(description="Questions whose evidence is known")
    trials: list[Trial]
