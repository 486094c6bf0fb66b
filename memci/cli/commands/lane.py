"""``memci pause`` and ``memci resume``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memci.cli.options import AgentOption, JsonOption

if TYPE_CHECKING:
    from memci.shapes.agent import LaneAnswer


def pause(*, agent: AgentOption, as_json: JsonOption = False) -> None:
    """Let no worker begin another job of an agent.

    Messages are still taken in.
    """
    from memci.cli.connection import agent_of

    with agent_of(agent) as memory:
        _print(memory.pause(), as_json=as_json)


def resume(*, agent: AgentOption, as_json: JsonOption = False) -> None:
    """Let workers go on with an agent that is paused or halted.

    A dead job halts an agent when MEMCI_ON_DEAD is halt.
    """
    from memci.cli.connection import agent_of

    with agent_of(agent) as memory:
        _print(memory.resume(), as_json=as_json)


def _print(state: LaneAnswer, *, as_json: bool) -> None:
    from memci.cli.output import print_json, say

    if as_json:
        print_json(state)
    else:
        say(f"{state.agent_id} {'is paused' if state.paused else 'goes on'}")
