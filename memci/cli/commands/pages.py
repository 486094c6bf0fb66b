"""``memci pages``."""

from __future__ import annotations

import typer

from memci.cli.pages.migrate import migrate

app = typer.Typer(help="Look after pages.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def pages() -> None:
    """Look after pages."""


app.command("migrate")(migrate)
