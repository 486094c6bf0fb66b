"""``memci usage``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.options import JsonOption
from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.shapes.usage import BudgetState, UsageAnswer


def usage(
    *,
    agent: Annotated[str | None, typer.Argument(metavar="AGENT", help="Whose.")] = None,
    named: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="ID", help="The same, as an option.")
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="How many days back.")] = 30,
    as_json: JsonOption = False,
) -> None:
    """Show what language models took, and the budget of today."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json

    if (agent is None) == (named is None):
        raise InvalidInputError("say whose, once: `memci usage AGENT`")
    with agent_of(agent or named or "") as memory:
        answer = memory.usage(days=days)
    print_json(answer) if as_json else print_usage(answer)


def print_usage(answer: UsageAnswer) -> None:
    """Print a line for each day, task and model, then the sum and the budget."""
    from memci.cli.output import print_table, say

    if not answer.days:
        say(f"no language model worked for {answer.agent_id} on these days")
    else:
        rows = [(each.day, each.task, each.model, *_counts(each)) for each in answer.days]
        print_table(
            ("day", "task", "model", "calls", "failed", "tokens", "cost in $", "done offline"),
            [*rows, ("all", "", "", *_counts(answer.total))],
        )
    say(_budget(answer.budget))


def _counts(each: object) -> tuple[object, ...]:
    from memci.shapes.usage import UsageCounts

    if not isinstance(each, UsageCounts):
        return ()
    return (
        each.calls,
        each.failures,
        each.prompt_tokens + each.completion_tokens,
        _cost(each.cost, each.unpriced),
        each.over_budget + each.fell_back,
    )


def _cost(cost: float | None, unpriced: int) -> str:
    if cost is None:
        return "not known" if unpriced else ""
    return f"{cost:.4f}" + (f" and {unpriced} calls of unknown price" if unpriced else "")


def _budget(budget: BudgetState) -> str:
    bounds = []
    if budget.tokens_per_day:
        bounds.append(f"{budget.tokens} of {budget.tokens_per_day} tokens")
    if budget.cost_per_day:
        bounds.append(f"${budget.cost or 0:.4f} of ${budget.cost_per_day:g}")
    if not bounds:
        return "no budget: set llm_tokens_per_day or llm_cost_per_day for the agent"
    state = "used up, the offline models work until midnight UTC" if budget.used_up else "today"
    return f"budget {state}: {', '.join(bounds)}"
