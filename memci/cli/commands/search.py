"""``memci search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memci.cli.options import AgentOption, AsOfOption, CollectionsOption, JsonOption, UserOption
from memci.cli.scope import (
    BestOption,
    ChannelsOption,
    MetadataOption,
    NamesOption,
    NowOption,
    RolesOption,
    SinceOption,
    SourcesOption,
    TagsOption,
    TypesOption,
    UntilOption,
    filters_of,
)
from memci.domain.context.candidate import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memci.shapes.read import Hit, HitDocument, SearchAnswer


def search(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    query: Annotated[str, typer.Argument(help="What to look for, in any words.")],
    agent: AgentOption,
    k: BestOption = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Tokens of all hits at most.")
    ] = None,
    source: SourcesOption = None,
    channel: ChannelsOption = None,
    fusion: Annotated[
        Literal["scaled", "rrf"] | None,
        typer.Option(help="How they become one ranking (default: scaled)."),
    ] = None,
    session: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only what was said in it (may be repeated)."),
    ] = None,
    user: UserOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    role: RolesOption = None,
    name: NamesOption = None,
    type_: TypesOption = None,
    tag: TagsOption = None,
    metadata: MetadataOption = None,
    as_of: AsOfOption = None,
    now: NowOption = None,
    collection: CollectionsOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what was read out of the question, and more.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Search all that was said, remembered, kept or indexed."""
    from memci.cli.connection import agent_of, check_written
    from memci.cli.output import print_json

    filters = filters_of(
        since=since,
        until=until,
        roles=role,
        names=name,
        types=type_,
        tags=tag,
        sessions=session,
        metadata=metadata,
    )
    options: dict[str, Any] = {
        "k": k,
        "budget_tokens": budget,
        "sources": source,
        "channels": channel,
        "fusion": fusion,
        "filters": filters,
        "user_id": user,
        "as_of": as_of,
        "now": now,
        "collections": collection,
        "explain": explain or None,
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
    if found.explain:
        _print_account(found.explain)
    hint_pending(found.pending)


def _print_account(account: Mapping[str, object]) -> None:
    import json

    from memci.cli.output import say

    for name, told in account.items():
        say(f"{name}: {json.dumps(told, ensure_ascii=False)}", style="dim")


def _where(hit: Hit) -> str:
    """Return what a hit is called, where it has a name."""
    if hit.document:
        return f" · {_place(hit.document)}"
    if hit.pin:
        return f" · {hit.pin.kind} #{hit.pin.pin}"
    if hit.step:
        return f" · #{hit.step.step} {hit.step.state}"
    named = {
        Source.CHAT: hit.name or hit.role,
        Source.PAGE: hit.page,
        Source.SUMMARY: hit.session_id,
    }.get(hit.source)
    return f" · {named}" if named else ""


def _place(document: HitDocument) -> str:
    """Return the document's name, and where in it: a line, or a page."""
    place = document.first_line or document.page
    return f"{document.name}:{place}" if place else document.name
