"""``memci watch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.options import JsonOption
from memci.errors import RateLimitedError, UnavailableError

if TYPE_CHECKING:
    from rich.console import Console

    from memci.cli.network.sight import Sight, Watcher


def watch(
    *,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Whose memory.")],
    every: Annotated[
        float, typer.Option(min=0.2, metavar="SECONDS", help="How often to look.")
    ] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Watch how an agent's memories fade, until Ctrl-C.

    The most faded come first; ↓ marks those that the last pass has shortened. In a pipe, and with
    --json, it looks once.
    """
    from memci.cli.connection import agent_of
    from memci.cli.network.frame import frame
    from memci.cli.network.sight import Watcher
    from memci.cli.output import console, print_json, print_trimmed

    screen = console()
    with agent_of(agent) as memory:
        watcher = Watcher(memory)
        sight = watcher.look()
        if as_json:
            print_json(_as_json(sight))
        elif once or not screen.is_terminal:
            print_trimmed(frame(sight, height=None))
        else:
            _follow(watcher, sight, screen, every)


def _follow(watcher: Watcher, sight: Sight, screen: Console, every: float) -> None:
    """Draw what is new until Ctrl-C; a server that is away for a while is waited for."""
    from threading import Event

    from rich.live import Live

    from memci.cli.network.frame import frame

    never, trouble = Event(), None
    with Live(console=screen, auto_refresh=False) as live:
        try:
            while True:
                live.update(frame(sight, height=screen.height, trouble=trouble), refresh=True)
                never.wait(every)
                try:
                    sight, trouble = watcher.look(), None
                except (RateLimitedError, UnavailableError) as error:
                    trouble = f"{error}; trying again"
        except KeyboardInterrupt:
            return


def _as_json(sight: Sight) -> dict[str, object]:
    from dataclasses import asdict

    latest = sight.latest
    return {
        "agent": sight.about.model_dump(mode="json"),
        "latest_pass": latest and latest.model_dump(mode="json"),
        "network": sight.network.model_dump(mode="json"),
        "forgotten": [asdict(each) for each in sight.gone],
    }
