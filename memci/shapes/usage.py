"""What language models took for an agent, as answers."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import Field, JsonValue

from memci.shapes.base import Answer


class UsageCounts(Answer):
    """What calls of language models took together."""

    calls: int = Field(description="Requests that were made, failed ones included")
    failures: int = Field(description="Calls without a usable answer")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="US dollars; null: no price is known")
    unpriced: int = Field(description="Answered calls whose price is not known, not in cost")
    over_budget: int = Field(description="Times the offline model took over for the budget's sake")
    fell_back: int = Field(description="Times it took over because no answer could be used")


class ModelUsage(UsageCounts):
    """What one model took for one task on one day."""

    day: date
    task: str
    model: str


class BudgetState(Answer):
    """What an agent may take today, and has taken; 0 = no bound."""

    day: date = Field(description="Today, in UTC")
    tokens_per_day: int
    cost_per_day: float
    tokens: int
    cost: float | None
    used_up: bool = Field(description="The offline models do the work until midnight UTC")


class PassUsage(Answer):
    """What models took for one pass."""

    number: int
    started_at: datetime
    finished_at: datetime | None
    models: list[dict[str, JsonValue]]


class UsageAnswer(Answer):
    """What language models took for one agent."""

    agent_id: str
    budget: BudgetState
    total: UsageCounts = Field(description="Of the days that are listed")
    days: list[ModelUsage] = Field(description="By day, task and model, the latest day first")
    passes: list[PassUsage] = Field(description="The latest passes that asked a model")
