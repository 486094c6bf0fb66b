"""``memci demo``."""

from __future__ import annotations

import typer


def demo() -> None:
    """Show everything on two conversations, in about a minute.

    It works in a folder of its own, which is removed afterwards.
    """
    from memci.cli.demo.play import play
    from memci.cli.settings import read_settings

    raise typer.Exit(play(read_settings()))
