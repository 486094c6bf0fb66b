"""The commands ``memci agents`` and ``memci usage``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.options import CursorOption, JsonOption, LimitOption
from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.schemas.agents import AgentAnswer


def agents(
    *,
    agent: Annotated[str | None, typer.Argument(metavar="ID", help="Show this one.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the agents, or show what one holds and what is to do."""
    from memci.cli.connection import connected
    from memci.cli.output import print_json, print_next, print_table

    with connected() as memci:
        if agent is not None:
            about = memci.agent(agent).about()
            print_json(about) if as_json else print_agent(about)
            return
        listed = memci.agents(limit=limit, cursor=cursor)
    if as_json:
        print_json(listed)
        return
    print_table(
        ("agent", "messages", "queued", "dead", "compression", "last written", ""),
        (
            (
                each.agent_id,
                each.messages,
                each.queued,
                each.dead,
                "waits" if each.compress_pending else "",
                each.written_at,
                "paused" if each.paused else "",
            )
            for each in listed.agents
        ),
    )
    print_next(listed.next_cursor)


def print_agent(about: AgentAnswer) -> None:
    """Print one agent as name and value, line by line."""
    from memci.cli.output import cell, say

    progress = about.pass_progress
    reached = f"memory is through up to {about.seq}, {about.pending} to come"
    lines: dict[str, object] = {
        "agent": about.agent_id,
        "messages": f"{about.messages}; {reached}",
        "network": f"{about.nodes} nodes, {about.links} links, {about.dangling} of them dangling",
        "pages": about.pages,
        "beside": _beside(about),
        "focus": about.focus,
        "passes": about.passes,
        "under way": progress
        and f"pass {progress.number}: {progress.scanned} nodes scanned, {progress.left} left",
        "queue": f"{about.queued} queued, {about.dead} dead",
        "lease": about.lease
        and f"held until {cell(about.lease.until)} (fence {about.lease.fence})",
        "halted by": about.halted_by and f"dead job {about.halted_by}: retry it, or `memci resume`",
        "state": "paused" if about.paused else "idle" if about.idle else "busy",
    }
    for name, value in lines.items():
        if value not in (None, "", []):
            say(f"{name:<10} {cell(value)}")


def _beside(about: AgentAnswer) -> list[str]:
    from memci.cli.output import counted

    held = {
        "document": (about.documents, None),
        "item": (about.items, None),
        "checkpoint": (about.checkpoints, None),
        "summary": (about.summaries, "summaries"),
        "pin": (about.pins, None),
        "plan": (about.plans, None),
    }
    return [counted(count, what, many) for what, (count, many) in held.items() if count]


if TYPE_CHECKING:
    from memci.schemas.agents import BudgetState, UsageAnswer


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
    from memci.schemas.agents import UsageCounts

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
