"""``memci demo``."""

from __future__ import annotations

import typer


def demo() -> None:
    """Show everything on two conversations, in a folder of its own that is removed afterwards."""
    from memci.cli.demo.play import play
    from memci.cli.settings import read_settings

    raise typer.Exit(play(read_settings()))
