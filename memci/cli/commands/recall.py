"""``memci recall``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.options import AgentOption, JsonOption
from memci.domain.memory.recall import Miss

if TYPE_CHECKING:
    from memci.shapes.read import RecallAnswer


def recall(
    *,
    keywords: Annotated[list[str], typer.Argument(help="Words or phrases to look for.")],
    agent: AgentOption,
    relation: Annotated[
        list[str] | None, typer.Option(help="Follow only links of this name (may be repeated).")
    ] = None,
    depth: Annotated[int | None, typer.Option(min=0, max=10, help="Layers out.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Memories at most.")] = 20,
    budget: Annotated[int | None, typer.Option(min=1, help="Tokens at most.")] = None,
    text: Annotated[bool, typer.Option("--text", help="Print what a model would see.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search an agent's memories, from what it talks about outwards."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json, say

    options: dict[str, Any] = {"relations": relation or [], "depth": depth, "limit": limit}
    options["budget_tokens"] = budget
    with agent_of(agent) as memory:
        if text:
            answer = memory.recall_text(keywords, **options)
            print_json(answer) if as_json else say(answer.text)
            return
        found = memory.recall(keywords, **options)
    print_json(found) if as_json else print_recall(found)


def print_recall(found: RecallAnswer) -> None:
    """Print memories, what was forgotten, or why there is neither."""
    from memci.cli.output import cell, hint, say

    for each in found.memories:
        say(each.content)
        said = f"said {cell(each.said_at)} · " if each.said_at else ""
        say(f"    {said}layer {each.layer} · importance {each.importance:.2f}", style="dim")
    for gone in found.forgotten:
        say(f"[forgotten] {gone.relation}: {gone.hint}", style="yellow")
    if found.miss is not None:
        say(REASONS[found.miss], style="yellow")
    if found.pending:
        hint(f"{found.pending} messages are still on their way to memory")


REASONS = {
    Miss.NEVER_KNOWN: "never known: nothing in reach of the focus was ever about this",
    Miss.FORGOTTEN: "forgotten: it was known once",
    Miss.PENDING: "not yet: messages are still on their way to memory",
    Miss.OUT_OF_REACH: (
        "remembered, but out of reach: farther from what is talked about now than --depth N"
    ),
}
