"""``memci agents``: list agents, and do something to one as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.connection import agent_of, connected
from memci.cli.options import AgentOption, CursorOption, LimitOption, assignment
from memci.cli.output import (
    cell,
    counted,
    hint,
    print_answer,
    print_list,
    print_rows,
    print_table,
    printed_json,
    say,
    working,
)
from memci.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from memci.schemas.agents import (
        AgentAnswer,
        BudgetState,
        LaneAnswer,
        SettingsAnswer,
        UsageAnswer,
        UsageCounts,
    )


def list_agents(*, limit: LimitOption = 100, cursor: CursorOption = None) -> None:
    """List the agents."""
    with connected() as memci:
        listed = memci.agents(limit=limit, cursor=cursor)
    rows = (
        {
            "agent": each.agent_id,
            "messages": each.messages,
            "queued": each.queued,
            "dead": each.dead,
            "compression": "waits" if each.compress_pending else "",
            "last written": each.written_at,
            "": "paused" if each.paused else "",
        }
        for each in listed.agents
    )
    print_list(listed, rows)


def show(*, agent: AgentOption) -> None:
    """Show the contents of an agent and its open work."""
    with agent_of(agent) as memory:
        about = memory.about()
    print_answer(about, print_agent)


def print_agent(about: AgentAnswer) -> None:
    """Print one agent as name and value, line by line."""
    progress = about.pass_progress
    reached = f"memory has read up to seq {about.seq}, {about.pending} pending"
    lines: dict[str, object] = {
        "agent": about.agent_id,
        "messages": f"{about.messages}; {reached}",
        "network": f"{about.nodes} nodes, {about.links} links, {about.dangling} of them dangling",
        "pages": about.pages,
        "other": _other_contents(about),
        "focus": about.focus,
        "passes": about.passes,
        "under way": progress
        and f"pass {progress.number}: {progress.scanned} nodes scanned, {progress.left} left",
        "queue": f"{about.queued} queued, {about.dead} dead",
        "lease": about.lease
        and f"held until {cell(about.lease.until)} (fence {about.lease.fence})",
        "halted by": about.halted_by
        and f"dead job {about.halted_by}: retry it, or `memci agents resume`",
        "state": "paused" if about.paused else "idle" if about.idle else "busy",
    }
    for name, value in lines.items():
        if value not in (None, "", []):
            say(f"{name:<10} {cell(value)}")


def _other_contents(about: AgentAnswer) -> list[str]:
    counts = {
        "document": (about.documents, None),
        "item": (about.items, None),
        "checkpoint": (about.checkpoints, None),
        "summary": (about.summaries, "summaries"),
        "pin": (about.pins, None),
        "plan": (about.plans, None),
    }
    return [counted(count, what, many) for what, (count, many) in counts.items() if count]


def usage(
    *,
    agent: AgentOption,
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="Days to show.")] = 30,
) -> None:
    """Show the usage of language models, and today's budget."""
    with agent_of(agent) as memory:
        answer = memory.usage(days=days)
    print_answer(answer, print_usage)


def print_usage(answer: UsageAnswer) -> None:
    """Print a line for each day, task and model, then the sum and the budget."""
    if not answer.days:
        say(f"{answer.agent_id} used no language model on these days")
    else:
        rows = [(each.day, each.task, each.model, *_counts(each)) for each in answer.days]
        print_table(
            ("day", "task", "model", "calls", "failed", "tokens", "cost in $", "done offline"),
            [*rows, ("all", "", "", *_counts(answer.total))],
        )
    say(_budget(answer.budget))


def _counts(each: UsageCounts) -> tuple[object, ...]:
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


def settings(
    *,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE", help="Parameters to set.")
    ] = None,
    agent: AgentOption,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset", metavar="NAME", help="Reset this parameter (repeatable)."),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Reset all parameters.")] = False,
) -> None:
    """Show or set the parameters of an agent's memory and window.

    Other parameters keep their values. Prints the changed ones. docs/reference/settings.md
    describes all parameters.
    """
    changes = dict(assignment(each, each) for each in values or ())
    for name, value in changes.items():
        if value is None or (isinstance(value, float) and isinf(value)):
            raise InvalidInputError(
                "expected a number, true, false or text; --unset resets a parameter", field=name
            )
    named = {*changes, *(unset or ())}
    with agent_of(agent) as memory:
        try:
            answer = memory.settings()
        except NotFoundError:
            if not changes:
                raise
            answer = memory.configure(changes)
            hint(f"{agent} has no messages yet; the settings apply from its first message")
        else:
            if changes or unset or reset:
                _check_known(named, answer.parameters)
                dropped = set(answer.changed) if reset else set(unset or ())
                named |= dropped
                kept = (name for name in answer.changed if name not in dropped)
                own = {name: answer.parameters[name] for name in kept}
                answer = memory.configure({**own, **changes})
    print_answer(answer, partial(_print_settings, names=named or None))


def _check_known(names: Iterable[str], parameters: Collection[str]) -> None:
    from memci.config.unknown_names import nearest_name

    for name in names:
        if name not in parameters:
            nearest = nearest_name(name.lower(), parameters)
            advice = f"did you mean {nearest}?" if nearest else "`memci agents settings` lists all"
            raise InvalidInputError(f"unknown parameter; {advice}", field=name)


def _print_settings(answer: SettingsAnswer, names: Collection[str] | None = None) -> None:
    """Print the parameters of these names (None: all), then the warnings."""
    print_rows(
        {
            "parameter": name,
            "value": str(value).lower() if isinstance(value, bool) else str(value),
            "": "changed" if name in answer.changed else "",
        }
        for name, value in sorted(answer.parameters.items())
        if names is None or name in names
    )
    for each in answer.warnings:
        say(each, style="yellow")


def pause(*, agent: AgentOption) -> None:
    """Pause an agent: workers start no new job.

    Messages are still accepted.
    """
    with agent_of(agent) as memory:
        _print_lane(memory.pause())


def resume(*, agent: AgentOption) -> None:
    """Resume an agent that is paused or halted.

    A dead job halts an agent when MEMCI_QUEUE_ON_DEAD is halt.
    """
    with agent_of(agent) as memory:
        _print_lane(memory.resume())


def _print_lane(state: LaneAnswer) -> None:
    print_answer(state, f"{state.agent_id} {'is paused' if state.paused else 'is resumed'}")


def export(
    *,
    agent: AgentOption,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The archive (default: AGENT.zip)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Export all data of an agent to one archive.

    The agent keeps running and is not changed.
    """
    target = output or Path(f"{agent}.zip")
    if target.exists() and not force:
        raise InvalidInputError(f"{target} already exists; use --force to replace it")
    if not target.absolute().parent.is_dir():
        raise InvalidInputError(f"{target}: there is no folder {target.parent}")
    with agent_of(agent) as memory, working(f"exporting {agent}"):
        manifest = memory.export(target, overwrite=force)
    if printed_json(manifest):
        return
    messages, nodes = manifest.tables["message"].rows, manifest.tables["node"].rows
    size = target.stat().st_size / 1_000_000
    say(f"{target}: {counted(messages, 'message')}, {counted(nodes, 'node')}, {size:.1f} MB")


def import_(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive made by export.")],
    agent: Annotated[
        str | None,
        typer.Option("--agent", "-a", metavar="ID", help="Id of the new agent (default: same id)."),
    ] = None,
) -> None:
    """Create an agent from an archive, here or on another server.

    Imports everything or nothing. The agent must not have data yet.
    """
    from memci.client.archive_files import read_manifest

    agent_id = agent or read_manifest(file).agent_id
    with agent_of(agent_id) as memory, working(f"importing {agent_id}"):
        answer = memory.import_(file)
    if printed_json(answer):
        return
    messages, nodes = answer.rows.get("message", 0), answer.rows.get("node", 0)
    say(f"agent {answer.agent_id}: {counted(messages, 'message')}, {counted(nodes, 'node')}")
    if answer.queued:
        jobs = counted(answer.queued, "job")
        hint(f"{jobs} to run; `memci jobs list --agent {agent_id}` lists them")
    if answer.reembed_job_id:
        hint("memci computes its vectors again with this server's embedder")
