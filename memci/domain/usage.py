"""The usage of language models, and an agent's daily budget."""

from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class Usage:
    """The total usage of calls.

    ``failures`` are ``calls`` without a usable answer. ``cost`` is in US dollars, None without
    known prices; ``unpriced`` counts answered calls without a known price. The offline model
    replaced ``over_budget`` calls because the daily budget was used up, and ``fell_back`` calls
    because of unusable answers.
    """

    calls: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    unpriced: int = 0
    over_budget: int = 0
    fell_back: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Self) -> Self:
        """Sum field by field; an unknown cost adds nothing to a known one."""
        costs = [each.cost for each in (self, other) if each.cost is not None]
        sums = {
            each.name: getattr(self, each.name) + getattr(other, each.name)
            for each in fields(self)
            if each.name != "cost"
        }
        return type(self)(**sums, cost=sum(costs) if costs else None)


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of an agent's usage in one day (UTC): tokens, and US dollars; 0 = no limit."""

    tokens: int = 0
    cost: float = 0.0

    def used_up_by(self, usage: Usage) -> bool:
        """Return True if the day's usage leaves no room for another call."""
        out_of_tokens = 0 < self.tokens <= usage.tokens
        return out_of_tokens or 0 < self.cost <= (usage.cost or 0.0)
