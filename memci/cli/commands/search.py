"""``memci search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.options import AgentOption, CollectionsOption, JsonOption, UserOption
from memci.domain.context.candidate import Channel, Source

if TYPE_CHECKING:
    from memci.shapes.read import Hit, HitDocument, SearchAnswer


def search(
    *,
    query: Annotated[str, typer.Argument(help="What to look for, in any words.")],
    agent: AgentOption,
    k: Annotated[
        int | None, typer.Option("--k", "-k", min=1, max=200, help="Hits at most.")
    ] = None,
    source: Annotated[
        list[Source] | None, typer.Option(help="Where (may be repeated; default: everywhere).")
    ] = None,
    channel: Annotated[
        list[Channel] | None,
        typer.Option(help="How (may be repeated; default: dense and lexical)."),
    ] = None,
    session: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only what was said in it (may be repeated)."),
    ] = None,
    user: UserOption = None,
    collection: CollectionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search all that was said, remembered, kept or indexed."""
    from memci.cli.connection import agent_of, check_written
    from memci.cli.output import print_json

    options: dict[str, Any] = {
        "k": k,
        "sources": source,
        "channels": channel,
        "filters": {"sessions": session} if session else None,
        "user_id": user,
        "collections": collection,
    }
    with agent_of(agent) as memory:
        found = memory.search(query, **options)
    check_written(agent, found)
    print_json(found) if as_json else print_hits(found)


def print_hits(found: SearchAnswer) -> None:
    """Print hits, best first."""
    from memci.cli.output import cell, hint_pending, say, shortened

    for rank, hit in enumerate(found.hits, start=1):
        say(f"{rank:>2}. {shortened(hit.text, 300)}")
        ways = " ".join(f"{name} #{place:g}" for name, place in sorted(hit.channels.items()))
        where = _where(hit)
        say(f"    {hit.source}{where} · {cell(hit.created_at)} · {ways}", style="dim")
    if not found.hits:
        say("nothing found", style="yellow")
    hint_pending(found.pending)


def _where(hit: Hit) -> str:
    """Return what a hit is called, where it has a name."""
    if hit.document:
        return f" · {_place(hit.document)}"
    if hit.pin:
        return f" · {hit.pin.kind} #{hit.pin.pin}"
    if hit.step:
        return f" · #{hit.step.step} {hit.step.state}"
    named = {Source.PAGE: hit.page, Source.SUMMARY: hit.session_id}.get(hit.source)
    return f" · {named}" if named else ""


def _place(document: HitDocument) -> str:
    """Return the document's name, and where in it: a line, or a page."""
    place = document.first_line or document.page
    return f"{document.name}:{place}" if place else document.name
