"""What calls of language models took, and how much of it an agent may take in a day."""

from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls took together.

    ``calls`` are requests that were made, ``failures`` those among them without a usable answer.
    ``cost`` is in US dollars, None where no price is known; ``unpriced`` counts answered calls
    whose price is not known, so that a cost is never read as if it were all. The offline model
    took over ``over_budget`` times because the day's budget was used up, and ``fell_back`` times
    because the answers could not be used.
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
    """What an agent may take in one day (UTC): tokens, and US dollars; 0 = no bound."""

    tokens: int = 0
    cost: float = 0.0

    def used_up_by(self, usage: Usage) -> bool:
        """Tell whether the day's usage leaves room for no further call."""
        out_of_tokens = 0 < self.tokens <= usage.tokens
        return out_of_tokens or 0 < self.cost <= (usage.cost or 0.0)
