"""``memci plan``."""

from __future__ import annotations

from typing import Annotated

import typer

from memci.cli.options import AgentOption, JsonOption
from memci.domain.context.plan import StepState

_MARKS = {
    StepState.PENDING: "[ ]",
    StepState.ACTIVE: "[>]",
    StepState.DONE: "[x]",
    StepState.DROPPED: "[-]",
}


def plan(
    *,
    agent: AgentOption,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Whose plan; none: that of the last message."),
    ] = None,
    steps: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="TEXT", help="A step, [x] before what is done; again for each of them."
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option("--step", min=1, help="A step, to say how far it is.")
    ] = None,
    state: Annotated[StepState | None, typer.Option("--state", help="How far it is.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a session follows, step by step, and set it."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json, say

    if (step is None) is not (state is None) or (steps and step is not None):
        raise typer.BadParameter("give --set for each step, or --step with --state")
    with agent_of(agent) as memory:
        if steps:
            shown = memory.update_plan(session, steps=steps)
        elif step is not None and state is not None:
            shown = memory.update_plan(session, step=step, state=state)
        else:
            shown = memory.plan(session)
    if as_json:
        print_json(shown)
        return
    for each in shown.steps:
        say(f"{each.step}. {_MARKS[each.state]} {each.text}")
    if not shown.steps:
        say("this session follows no plan")
