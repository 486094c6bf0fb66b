"""``memci db``."""

from __future__ import annotations

import typer

from memci.cli.options import JsonOption

app = typer.Typer(
    help="Bring the database to this release, or ask if it is.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def database() -> None:
    """Bring the database to this release, or ask if it is."""


@app.command("upgrade")
def upgrade_database(*, as_json: JsonOption = False) -> None:
    """Bring the database to the schema that this release needs."""
    from memci.addresses import database_url
    from memci.cli.output import print_json, say
    from memci.cli.settings import read_settings
    from memci.storage.diagnosis import schema_revisions
    from memci.storage.migrate import upgrade

    url = database_url(read_settings())
    upgrade(url)
    revisions = schema_revisions(url)
    if as_json:
        print_json({"revision": revisions.current})
    else:
        say(f"the database is at {revisions.current}")


@app.command("status")
def status(*, as_json: JsonOption = False) -> None:
    """Tell whether the database is at the schema that it needs.

    Exit code 1: it is not.
    """
    from memci.addresses import database_url
    from memci.cli.output import print_json, say
    from memci.cli.settings import read_settings
    from memci.storage.diagnosis import schema_revisions

    revisions = schema_revisions(database_url(read_settings()))
    fits = revisions.current == revisions.needed
    if as_json:
        print_json({"current": revisions.current, "needed": revisions.needed, "fits": fits})
    elif fits:
        say(f"the database is at {revisions.current}, as this release needs it")
    else:
        at = revisions.current or "no schema yet"
        say(
            f"the database is at {at}, and this release needs {revisions.needed}: "
            "run `memci db upgrade`"
        )
    if not fits:
        raise typer.Exit(1)
