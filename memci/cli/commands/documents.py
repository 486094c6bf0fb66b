"""``memci documents``: index, list and remove them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli import output
from memci.cli.connection import connected, every_page, read_settings
from memci.cli.options import TimeoutOption, WaitOption
from memci.errors import InvalidInputError, MemciError

if TYPE_CHECKING:
    from memci.cli.indexing.file_finder import Found
    from memci.cli.indexing.upload import Sent, Where

AgentChoice = Annotated[
    str | None, typer.Option("--agent", "-a", metavar="ID", help="Agent of the documents.")
]
CollectionChoice = Annotated[
    str | None,
    typer.Option("--collection", "-c", metavar="NAME", help="Collection of the documents."),
]


@contextmanager
def place_of(agent: str | None, collection: str | None) -> Iterator[Where]:
    """Yield a client of the agent or collection; ``InvalidInputError`` unless one is named."""
    if (agent is None) == (collection is None):
        raise InvalidInputError("name either --agent ID or --collection NAME")
    with connected() as memci:
        yield memci.collection(collection or "") if agent is None else memci.agent(agent)


_MAX_NAMES = 5


def index(
    *,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.")],
    agent: AgentChoice = None,
    collection: CollectionChoice = None,
    called: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Name of the folder in document names."),
    ] = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Index files and code.

    Text, Markdown, HTML, PDF, Office, EPUB, CSV, JSON, notebooks, and code by symbol.

    Sends only changed files, and removes documents whose files no longer exist. Skips files that
    git ignores, secrets (.env, keys) and files without text, and lists what it skips. Names of
    documents begin with the folder: docs/guide.md for `memci documents index docs`.
    """
    from memci.cli.indexing.file_finder import Found, find
    from memci.cli.indexing.upload import KnownFolders, has_documents, send
    from memci.cli.indexing.upload import wait as wait_for

    if called is not None and len(paths) > 1:
        raise InvalidInputError("--as names one folder or file: index them one by one")
    found, settings = Found(), read_settings()
    for path in paths:
        find(path, found, called=called, max_bytes=settings.http_max_document_bytes)
    owner = f"{settings.client_url}\0{agent}\0{collection}"
    known = KnownFolders(settings.data_dir / "indexed", owner)
    with place_of(agent, collection) as where:
        known.check(found, lambda prefix: has_documents(where, prefix), called=called is not None)
        with _progress("sending", len(found.files)) as on_progress:
            sent = send(where, found, on_progress)
        if wait:
            with _progress("indexing", len(sent.waiting)) as on_progress:
                wait_for(where, sent, timeout, on_progress)
    _print_result(found, sent, waited=wait)
    if sent.refused or sent.failed:
        raise MemciError(
            f"{len(sent.refused) + len(sent.failed)} of {len(found.files)} files were refused; the "
            "others are not affected"
        )


def list_documents(
    *,
    agent: AgentChoice = None,
    collection: CollectionChoice = None,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Only names that begin with this.")
    ] = "",
) -> None:
    """List documents and their states."""
    from memci.cli.indexing.upload import documents_of

    with place_of(agent, collection) as where:
        where.documents(limit=1)  # says so if there is nobody
        listed = list(documents_of(where, prefix))
    rows = (
        {
            "document": each.id,
            "name": each.name,
            "state": each.state.value,
            "chunks": f"{each.indexed_chunks}/{each.chunks}",
            "bytes": each.bytes,
            "sent": each.sent_at,
        }
        for each in listed
    )
    output.print_list(listed, rows)
    for each in listed:
        if each.error and not output.PRINTS_JSON.get():
            output.hint(f"{each.name}: {each.error}")


def remove(
    *,
    prefixes: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Beginnings of names of documents.")
    ] = None,
    agent: AgentChoice = None,
    collection: CollectionChoice = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="All documents.")] = False,
) -> None:
    """Remove documents for good; the files are not deleted."""
    if bool(prefixes) == all_of_them or "" in (prefixes or []):
        raise InvalidInputError("give the beginning of the documents' names, or --all")
    documents = chunks = 0
    with place_of(agent, collection) as where:
        for prefix in prefixes or [""]:
            removed = where.remove_documents(prefix)
            documents, chunks = documents + removed.documents, chunks + removed.chunks
    output.print_answer(
        {"documents": documents, "chunks": chunks},
        f"{output.counted(documents, 'document')} removed, {output.counted(chunks, 'chunk')}",
    )


def collections() -> None:
    """List collections of shared documents."""
    with connected() as memci:
        pages = every_page(lambda cursor: memci.collections(cursor=cursor, limit=500))
        listed = [each for page in pages for each in page.collections]
    rows = (
        {"collection": each.name, "documents": each.documents, "chunks": each.chunks}
        for each in listed
    )
    output.print_list(listed, rows)


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on a terminal; yield a function to call with the name of each file."""
    with output.progress_bar() as progress:
        bar = progress.add_task(what, total=total)

        def on_progress(name: str) -> None:
            description = f"{what} {output.shortened(output.printable(name), 40)}"
            progress.update(bar, advance=1, description=description)

        yield on_progress


def _print_result(found: Found, sent: Sent, *, waited: bool) -> None:
    result = {
        "new": sent.new,
        "changed": sent.changed,
        "tried_again": sent.tried_again,
        "unchanged": sent.unchanged,
        "removed": sent.removed,
        "ignored": len(found.ignored),
        "skipped": {name: why.value for name, why in found.skipped.items()},
        "refused": {**sent.refused, **sent.failed},
    }
    if output.printed_json(result):
        return
    if not (found.files or sent.removed):
        output.say("there is nothing to index")
        _print_left_out(found)
        return
    changes = f"{output.counted(len(sent.new), 'document')} new, {len(sent.changed)} changed"
    again = f", {len(sent.tried_again)} tried again" if sent.tried_again else ""
    output.say(f"{changes}, {sent.unchanged} unchanged{again}, {len(sent.removed)} removed")
    if sent.waiting and not waited:
        output.hint("workers read them now: `memci documents list` shows their states")
    _print_left_out(found)
    for name, why_not in {**sent.refused, **sent.failed}.items():
        output.hint(f"refused, {name}: {why_not}")


def _print_left_out(found: Found) -> None:
    if found.ignored:
        ignored = output.counted(len(found.ignored), "file or folder", "files and folders")
        output.hint(f"left out, ignored by git: {ignored}")
    for why, _ in Counter(found.skipped.values()).most_common():
        names = [name for name, each in found.skipped.items() if each is why]
        output.hint(f"left out, {why.value}: {output.listed(names, _MAX_NAMES)}")
