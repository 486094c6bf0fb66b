"""``memci compress``."""

from __future__ import annotations

from typing import Annotated

import typer

from memci.cli.options import AgentOption, JsonOption, TimeoutOption, WaitOption
from memci.errors import MemciError


def compress(
    *,
    agent: AgentOption,
    reason: Annotated[str | None, typer.Option(help="Why, for whoever reads the log.")] = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 300.0,
    as_json: JsonOption = False,
) -> None:
    """Ask for one more compression pass over an agent's memories."""
    from memci.cli.connection import agent_of, why_still
    from memci.cli.output import print_json, say

    with agent_of(agent) as memory:
        answer = memory.compress(reason=reason)
        if wait and (still := why_still(memory)):
            raise MemciError(f"asked for, but not waiting: {still}")
        about = memory.wait_idle(timeout_s=timeout) if wait else None
    if as_json:
        print_json(about or answer)
    elif about is not None:
        say(f"pass {about.passes} done: {about.nodes} nodes, {about.links} links")
    else:
        waits = "was already asked for" if answer.coalesced else "is asked for"
        say(f"compression {waits} (request {answer.round})")
