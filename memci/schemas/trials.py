"""Trials: recorded questions, asked again under two settings (R11)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from memci.domain.agent_id import AGENT_ID_PATTERN
from memci.schemas.base import Answer, ForeignId, matching
from memci.schemas.reads import ContextRequest


class RecordedQuestion(ContextRequest):
    """One line of a file of questions: the request of a context, and its agent."""

    agent: Annotated[str, matching(AGENT_ID_PATTERN, "the id of an agent")]
    receipt_id: UUID | None = Field(None, description="Of the recorded context")
    evidence: tuple[ForeignId, ...] = Field((), description="Messages that answer it, if known")


class TrialContext(Answer):
    """The context of one of the settings."""

    tokens: int
    took_ms: float = Field(description="Without the call of a context worker")
    message_ids: list[str] = Field(description="Messages in it, without the question")
    recall: float | None = Field(None, description="Share of the evidence in it, 0 to 1")


class Trial(Answer):
    """One question, under both settings."""

    agent: str
    query: str | None
    evidence: list[str]
    first: TrialContext
    second: TrialContext
    both: list[str] = Field(description="Messages that both contexts hold")
    recorded: list[str] | None = Field(None, description="Messages in the recorded context, if any")


class TrialTotals(Answer):
    """The results of one of the settings over all questions."""

    name: str
    mean_tokens: float
    mean_messages: float
    p50_ms: float
    p95_ms: float
    recall: float | None = Field(description="Mean over the questions with evidence")
    as_recorded: float | None = Field(description="Mean share of the recorded messages")


class TrialsAnswer(Answer):
    """Both settings side by side."""

    first: TrialTotals
    second: TrialTotals
    overlap: float = Field(description="Mean of messages in both contexts ÷ messages in either")
    with_evidence: int = Field(description="Questions with evidence")
    trials: list[Trial]
