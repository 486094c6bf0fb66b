"""``memci up``."""

from __future__ import annotations

import typer


def up() -> None:
    """Run everything in this terminal; Ctrl-C stops it.

    Everything: servers, API, workers, beat and Flower. The embedded PostgreSQL and Redis are
    started unless MEMCI_DATABASE_URL and MEMCI_BROKER_URL are set.
    """
    from memci.cli.settings import read_settings
    from memci.cli.up.session import run_everything

    raise typer.Exit(run_everything(read_settings()))
