"""The commands ``memci search`` and ``memci context``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli import options
from memci.cli.connection import agent_of, check_written
from memci.cli.output import (
    cell,
    hint_pending,
    print_answer,
    print_messages,
    print_table,
    say,
    shortened,
)
from memci.domain.search.candidate import Source

if TYPE_CHECKING:
    from memci.schemas.reads import ContextAnswer, Hit, SearchAnswer


def search(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    query: Annotated[str, typer.Argument(help="The question or words to find.")],
    agent: options.AgentOption,
    k: options.BestOption = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Maximum tokens of all hits.")] = None,
    source: options.SourcesOption = None,
    channel: options.ChannelsOption = None,
    session: Annotated[
        list[str] | None, options.id_option(help="Only messages of this session (repeatable).")
    ] = None,
    user: options.UserOption = None,
    since: options.SinceOption = None,
    until: options.UntilOption = None,
    role: options.RolesOption = None,
    name: options.NamesOption = None,
    type_: options.TypesOption = None,
    tag: options.TagsOption = None,
    metadata: options.MetadataOption = None,
    as_of: options.AsOfOption = None,
    now: options.NowOption = None,
    collection: options.CollectionsOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the analysis of the question and the scores.")
    ] = False,
) -> None:
    """Search messages, memories, pages, pins, plans and documents."""
    filters = options.filters_of(
        since=since,
        until=until,
        roles=role,
        names=name,
        types=type_,
        tags=tag,
        sessions=session,
        metadata=metadata,
    )
    request: dict[str, Any] = {
        "k": k,
        "budget_tokens": budget,
        "sources": source,
        "channels": channel,
        "filters": filters,
        "user_id": user,
        "as_of": as_of,
        "now": now,
        "collections": collection,
        "explain": explain or None,
    }
    with agent_of(agent) as memory:
        found = memory.search(query, **request)
    check_written(agent, found)
    print_answer(found, print_hits)


def print_hits(found: SearchAnswer) -> None:
    """Print hits, best first."""
    for rank, hit in enumerate(found.hits, start=1):
        say(f"{rank:>2}. {shortened(hit.text, 300)}")
        ways = " ".join(f"{each} #{place:g}" for each, place in sorted(hit.channels.items()))
        name = _hit_name(hit)
        score = f" · score {hit.score:.2f}" if found.explain else ""
        say(f"    {hit.source}{name} · {cell(hit.created_at)} · {ways}{score}", style="dim")
    if not found.hits:
        say("nothing found", style="yellow")
    for name, value in (found.explain or {}).items():
        say(f"{name}: {json.dumps(value, ensure_ascii=False)}", style="dim")
    hint_pending(found.pending)


def _hit_name(hit: Hit) -> str:
    """Return the name of a hit, or of its place; empty if it has none."""
    if document := hit.document:
        place = document.first_line or document.page
        return f" · {document.name}:{place}" if place else f" · {document.name}"
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


def context(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    query: Annotated[str | None, typer.Argument(help="The user's next message.")] = None,
    agent: options.AgentOption,
    budget: Annotated[int, typer.Option(min=1, help="Maximum number of tokens.")] = 2000,
    system: Annotated[str | None, typer.Option(help="System text to begin with.")] = None,
    model: Annotated[str | None, typer.Option(help="Model whose tokenizer counts.")] = None,
    recent: Annotated[
        int | None, typer.Option(min=0, max=200, help="Maximum number of recent interactions.")
    ] = None,
    session: Annotated[
        str | None, options.id_option(help="Session of the recent interactions.")
    ] = None,
    user: options.UserOption = None,
    k: Annotated[
        int | None, typer.Option("--k", "-k", min=1, max=200, help="Maximum hits of each source.")
    ] = None,
    source: options.SourcesOption = None,
    channel: options.ChannelsOption = None,
    as_of: options.AsOfOption = None,
    now: options.NowOption = None,
    collection: options.CollectionsOption = None,
    record: options.RecordOption = None,
) -> None:
    """Assemble the context of a model within a token budget."""
    from memci.cli.trials import append_question

    request: dict[str, Any] = {
        "system": system,
        "model": model,
        "recent": recent,
        "session_id": session,
        "user_id": user,
        "k": k,
        "sources": source,
        "channels": channel,
        "as_of": as_of,
        "now": now,
        "collections": collection,
    }
    with agent_of(agent) as memory:
        answer = memory.context(query, budget_tokens=budget, **request)
    check_written(agent, answer)
    if record is not None:
        asked = {"agent": agent, "query": query, "budget_tokens": budget, **request}
        append_question(record, **asked, receipt_id=answer.receipt_id)
    print_answer(answer, print_context)


def print_context(answer: ContextAnswer) -> None:
    """Print the message list, then its sections and their tokens."""
    print_messages(answer.messages)
    print_table(
        ("section", "tokens", "messages", "text"),
        (
            (item.section, item.tokens, len(item.message_ids), shortened(item.text, 60))
            for item in answer.items
        ),
    )
    say(f"{answer.tokens} of {answer.budget_tokens} tokens · receipt {answer.receipt_id}")
