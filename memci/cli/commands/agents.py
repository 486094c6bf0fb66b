"""``memci agents``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.options import CursorOption, JsonOption, LimitOption

if TYPE_CHECKING:
    from memci.shapes.agent import AgentAnswer


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
