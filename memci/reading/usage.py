"""What language models took for one agent, and what is left of its day's budget."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from functools import reduce

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.usage import Usage
from memci.shapes.usage import BudgetState, ModelUsage, PassUsage, UsageAnswer, UsageCounts
from memci.storage.erasure.gone import snapshot_of
from memci.storage.parameters import parameters_of
from memci.storage.session import Database
from memci.storage.usage import passes_with_models, usage_by_day, usage_of_day

_PASSES = 20


def usage_of(
    database: Database,
    agent_id: str,
    *,
    days: int,
    defaults: MemoryParameters,
    now: datetime,
) -> UsageAnswer:
    """Return the usage of so many days up to ``now`` (aware UTC), today included."""
    today = now.date()
    first = today - timedelta(days=days - 1)
    with snapshot_of(database, agent_id) as connection:
        budget = parameters_of(connection, agent_id, defaults).budget
        taken = usage_of_day(connection, agent_id, today)
        listed = usage_by_day(connection, agent_id, first, today)
        passes = passes_with_models(connection, agent_id, _PASSES)
    total = reduce(Usage.__add__, (each.usage for each in listed), Usage())
    return UsageAnswer(
        agent_id=agent_id,
        budget=BudgetState(
            day=today,
            tokens_per_day=budget.tokens,
            cost_per_day=budget.cost,
            tokens=taken.tokens,
            cost=taken.cost,
            used_up=budget.used_up_by(taken),
        ),
        total=UsageCounts(**asdict(total)),
        days=[
            ModelUsage(day=each.day, **each.use._asdict(), **asdict(each.usage)) for each in listed
        ],
        passes=[PassUsage(**row) for row in passes],
    )
