"""``memci context``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.options import (
    AgentOption,
    AsOfOption,
    CollectionsOption,
    JsonOption,
    RecordOption,
    UserOption,
)
from memci.cli.scope import ChannelsOption, NowOption, SourcesOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memci.shapes.read import ContextAnswer, ContextMessage


def context(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    query: Annotated[str | None, typer.Argument(help="The user's next message.")] = None,
    agent: AgentOption,
    budget: Annotated[int, typer.Option(min=1, help="Tokens at most.")] = 2000,
    system: Annotated[str | None, typer.Option(help="System text to begin with.")] = None,
    model: Annotated[str | None, typer.Option(help="Model whose tokens count.")] = None,
    recent: Annotated[
        int | None, typer.Option(min=0, max=200, help="Recent interactions at most.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Whose turns are the recent ones.")
    ] = None,
    user: UserOption = None,
    k: Annotated[
        int | None, typer.Option("--k", "-k", min=1, max=200, help="Of each source at most.")
    ] = None,
    source: SourcesOption = None,
    channel: ChannelsOption = None,
    as_of: AsOfOption = None,
    now: NowOption = None,
    collection: CollectionsOption = None,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Assemble what a model should see, within a budget of tokens."""
    from memci.cli.connection import agent_of, check_written
    from memci.cli.output import print_json
    from memci.cli.recording import append_question

    options: dict[str, Any] = {
        "system": system,
        "model": model,
        "recent": recent,
        "session_id": session,
        "user_id": user,
        "k": k,
        "sources": source,
        "channels": channel,
        "as_of": as_of.isoformat() if as_of else None,
        "now": now,
        "collections": collection,
    }
    with agent_of(agent) as memory:
        answer = memory.context(query, budget_tokens=budget, **options)
    check_written(agent, answer)
    if record is not None:
        append_question(
            record, agent, query, budget_tokens=budget, receipt_id=answer.receipt_id, **options
        )
    print_json(answer) if as_json else print_context(answer)


def print_context(answer: ContextAnswer) -> None:
    """Print the message list, then its account."""
    from memci.cli.output import print_table, say, shortened

    print_messages(answer.messages)
    print_table(
        ("section", "tokens", "messages", "text"),
        (
            (item.section, item.tokens, len(item.message_ids), shortened(item.text, 60))
            for item in answer.items
        ),
    )
    say(f"{answer.tokens} of {answer.budget_tokens} tokens · receipt {answer.receipt_id}")


def print_messages(messages: Sequence[ContextMessage]) -> None:
    """Print messages as a model is given them, each under its role, and a blank line."""
    from memci.cli.output import say

    for message in messages:
        say(f"── {message.role}" + (f" ({message.name})" if message.name else ""), style="bold")
        if message.content:
            say(message.content)
        for call in message.tool_calls or ():
            say(f"→ {call.function.name}({call.function.arguments})")
    say()
