"""``memci up``."""

from __future__ import annotations

import typer


def up() -> None:
    """Run everything in this terminal: servers, API, workers, beat and Flower; Ctrl-C stops it.

    The embedded PostgreSQL and Redis run unless MEMCI_DATABASE_URL and MEMCI_BROKER_URL are set.
    """
    from memci.cli.settings import read_settings
    from memci.cli.up.session import run_everything

    raise typer.Exit(run_everything(read_settings()))
