"""``memci db``: upgrade, back up and restore the database, index large agents, embed anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.connection import read_settings
from memci.cli.output import counted, hint, print_answer, printed_json, say

if TYPE_CHECKING:
    from memci.commands.rebuild import Progress

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]
_ExistingFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The backup.", exists=True, dir_okay=False)
]


def upgrade_database() -> None:
    """Upgrade the database to the schema of this release."""
    from memci.embedded.owner import addresses_of
    from memci.storage.diagnosis import database_state
    from memci.storage.migrate import upgrade

    urls = addresses_of(read_settings())
    upgrade(urls.migration_url, urls.database_url)
    revisions = database_state(urls.database_url).revisions
    print_answer({"revision": revisions.current}, f"the database is at {revisions.current}")


def status() -> None:
    """Check whether the database has the schema of this release, or of a later one.

    Exit code 1: it does not.
    """
    from memci.embedded.owner import addresses_of
    from memci.storage.diagnosis import database_state

    revisions = database_state(addresses_of(read_settings()).database_url).revisions
    text = f"the database is at {revisions.current}, and this release works with it"
    if not revisions.fits:
        at = revisions.current or "no schema yet"
        text = (
            f"the database is at {at}, and this release needs {revisions.needed}: "
            "run `memci db upgrade`"
        )
    found = {"current": revisions.current, "needed": revisions.needed, "fits": revisions.fits}
    print_answer(found, text)
    if not revisions.fits:
        raise typer.Exit(1)


def backup(file: _File) -> None:
    """Back up the embedded database, also while memci runs.

    The file holds the whole database as of one moment, with all texts of users.
    """
    from memci.cli.database import embedded_servers
    from memci.embedded.backup import dump

    with embedded_servers(read_settings()) as servers:
        dump(servers.postgres, file)
    size = file.stat().st_size
    print_answer({"file": str(file), "bytes": size}, f"the database is in {file} ({size:,} bytes)")


def restore(file: _ExistingFile) -> None:
    """Restore a backup into an embedded database, in a new data folder (MEMCI_DATA_DIR)."""
    from memci.cli.database import embedded_servers
    from memci.embedded.backup import restore as load
    from memci.storage.migrate import upgrade

    settings = read_settings()
    with embedded_servers(settings, create=True) as servers:
        load(servers.postgres, file)
        upgrade(servers.postgres.migration_url)
    print_answer({"file": str(file)}, f"{file} is restored in {settings.data_dir}")


def reembed(
    *,
    status: Annotated[bool, typer.Option("--status", help="Only print the progress.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Queue every agent, even if this embedder is in use.")
    ] = False,
) -> None:
    """Compute all vectors again with the configured embedder.

    Does nothing if this embedder is already in use.

    Accesses the database directly, since workers with another embedder than the database's do not
    start. The workers then compute the vectors, agent by agent; reads continue.
    """
    from memci.cli.database import opened_database
    from memci.commands import rebuild as command
    from memci.smallmodel.registry import build_small_models

    settings = read_settings()
    asked, unchanged = None, False
    with opened_database(settings) as database:
        if not status:
            embedder = build_small_models(settings).embedder
            unchanged = command.is_in_use(database, embedder)
            asked = 0 if unchanged and not force else command.run(database, embedder)
        progress = command.progress(database)
    if printed_json(_progress_json(progress, asked)):
        return
    say(_progress_text(progress))
    if unchanged and not force:
        say("nothing to do: MEMCI_MODELS__EMBEDDER__MODEL names the embedder that is in use")
        hint("--force queues every agent anyway, for example after an interrupted reembed")
    if asked:
        say("start the workers if they do not run: they compute the vectors")


def index() -> None:
    """Build indexes over the vectors of agents with very many messages.

    Searches of such an agent then read a part of its vectors instead of all, and find nearly the
    same. Memci goes on meanwhile. Indexes that are no longer needed are dropped.
    """
    from memci.cli.database import database_at, opened_database
    from memci.storage.search.vector_index import LARGE_FROM, build_indexes

    settings, built = read_settings(), []
    with database_at(settings, migrates=True) as url, opened_database(settings) as database:
        for each in build_indexes(database, url):
            hint(f"{each.agent_id}: {each.messages:,} messages …")
            built.append(each.agent_id)
    done = f"built {counted(len(built), 'index', 'indexes')}" if built else "no index is missing"
    print_answer({"built": built}, f"{done}: agents of {LARGE_FROM:,} messages have one each")


def _progress_json(progress: Progress, asked: int | None) -> dict[str, Any]:
    held = progress.held
    return {
        "model": held and held.model.name,
        "dimension": held and held.model.dimension,
        "changed_at": held and held.changed_at.isoformat(),
        "asked": asked,
        "agents_left": progress.left.queued,
        "agents_dead": progress.left.dead,
    }


def _progress_text(progress: Progress) -> str:
    if progress.held is None:
        return "there are no vectors yet: the first worker's embedder will be used"
    left, model = progress.left, progress.held.model
    text = f"vectors are made by {model}; "
    if left.queued:
        text += f"{counted(left.queued, 'agent')} still to be embedded again"
    else:
        text += "no agent waits for new vectors"
    if left.dead:
        dead = counted(left.dead, "agent")
        text += f"; the jobs of {dead} are dead: see `memci jobs list`, then `memci jobs retry`"
    return text
