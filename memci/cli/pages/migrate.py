"""``memci pages migrate``."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.connection import read_settings
from memci.cli.options import JsonOption
from memci.cli.output import console, counted, hint, print_json, say
from memci.errors import ConfigurationError

if TYPE_CHECKING:
    from memci.commands.pages.move_texts import TextCounts, TextMigration
    from memci.config.settings import Settings


class Target(StrEnum):
    """Persistent stores."""

    POSTGRES = "postgres"
    FILES = "files"
    S3 = "s3"


def migrate(
    *,
    to: Annotated[Target, typer.Option(help="The store that is to have all texts of notes.")],
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove from the former store what was copied.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy all texts of notes to another page store while everything runs.

    Before, every process has to know both stores; without that, this says what to set. It can be
    ended and begun again at any time.
    """
    from memci.cli.database import opened_database
    from memci.commands.pages.move_texts import TextMigration
    from memci.storage.page_store.choose import open_page_store

    settings = read_settings()
    former = _former_store(settings, to)
    with opened_database(settings) as database:
        source = open_page_store(former, settings, database, in_use=True)
        target = open_page_store(settings.page_store, settings, database)
        moved = _run(TextMigration(database, source, target), clear=clear)
    if as_json:
        print_json({"from": former, "to": to.value, **asdict(moved)})
    else:
        _print_counts(moved, former, to.value, clear=clear)


def _former_store(settings: Settings, to: Target) -> str:
    """Return the store to copy from, or raise ``ConfigurationError`` with the settings needed."""
    from memci.config.groups import PageStoreAddress

    store, also = settings.page_store, settings.page_store_reads_also
    is_target = PageStoreAddress.parse(store).kind == to.value
    if is_target and also is not None:
        return also
    here = f"MEMCI_PAGE_STORE={to.value} and MEMCI_PAGE_STORE_READS_ALSO"
    if is_target:
        raise ConfigurationError(
            f"the page store is {store} already: set MEMCI_PAGE_STORE_READS_ALSO to the store that"
            " was used before, for this command and for every process"
        )
    if also is None or PageStoreAddress.parse(also).kind != to.value:
        raise ConfigurationError(
            "nothing was copied: all processes have to find what any of them writes. First set"
            f" MEMCI_PAGE_STORE_READS_ALSO={to.value} for every process and restart them; then set"
            f" {here}={store}, restart them again, and run this once more with the same settings"
        )
    raise ConfigurationError(
        f"nothing was copied: new texts still go to {store}. When every process reads {to.value}"
        f" also, set {here}={store} for all, restart them, and run this once more with the same"
        " settings"
    )


def _run(migration: TextMigration, *, clear: bool) -> TextCounts:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from memci.storage.pages.texts import all_agents

    screen = console(stderr=True)
    with Progress(
        TextColumn("agents"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[copied]} texts copied"),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    ) as progress:
        task = progress.add_task("", total=len(list(all_agents(migration.database))), copied=0)
        return migration.run(
            clear=clear,
            report=lambda moved: progress.update(task, completed=moved.agents, copied=moved.copied),
        )


def _print_counts(moved: TextCounts, former: str, to: str, *, clear: bool) -> None:
    say(
        f"{counted(moved.copied, 'text')} copied from {former} to {to}, {moved.present} there"
        f" before, of {counted(moved.agents, 'agent')}"
    )
    if moved.missing:
        say(
            f"{counted(moved.missing, 'text')} that pages refer to cannot be read in either store",
            style="yellow",
        )
        hint(
            "bring them back from a back-up of the store; until then their pages show that the text"
            " is missing, and `memci doctor` names some of them"
        )
    if clear:
        say(f"{counted(moved.cleared, 'text')} removed from {former}")
    if moved.copied:
        hint(
            "run it once more: all is there when it copies nothing, and every process has"
            f" MEMCI_PAGE_STORE={to}"
        )
    elif moved.present and not clear:
        hint(f"--clear removes them from {former}, where no erasure would reach them later on")
    else:
        hint("now take MEMCI_PAGE_STORE_READS_ALSO out everywhere, and restart")
