"""``memci nodes``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.options import AgentOption, CursorOption, JsonOption, LimitOption
from memci.domain.memory.node import NodeKind, NodeType
from memci.errors import NotFoundError

if TYPE_CHECKING:
    from memci.client import Agent
    from memci.shapes.agent import NodeAnswer


def nodes(
    *,
    node: Annotated[int | None, typer.Argument(metavar="ID", help="Show this one.")] = None,
    agent: AgentOption,
    kind: Annotated[NodeKind | None, typer.Option(help="Only this kind.")] = None,
    node_type: Annotated[NodeType | None, typer.Option("--type", help="Only this type.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    as_json: JsonOption = False,
) -> None:
    """List an agent's memories and entities, or show one.

    One is shown with what happened to it; that stays when it is forgotten.
    """
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json, print_next, print_table, shortened

    with agent_of(agent) as memory:
        if node is not None:
            _show(memory, node, as_json=as_json)
            return
        options: dict[str, Any] = {"limit": limit, "cursor": cursor}
        options |= {"kind": _value(kind), "type": _value(node_type)}
        listed = memory.nodes(**options)
    if as_json:
        print_json(listed)
        return
    print_table(
        ("id", "kind", "importance", "length", "of", "scans", "content"),
        (
            (
                each.id,
                f"{each.kind}{' (focus)' if each.focus else ''}",
                each.importance,
                each.length,
                each.original_length,
                each.scan_count,
                shortened(each.content, 80),
            )
            for each in listed.nodes
        ),
    )
    print_next(listed.next_cursor)


def _value(choice: StrEnum | None) -> str | None:
    return None if choice is None else choice.value


def _show(memory: Agent, node_id: int, *, as_json: bool) -> None:
    from memci.cli.output import cell, print_json, print_table, say

    trail = memory.trail(node_id, limit=500)
    try:
        node = memory.node(node_id)
    except NotFoundError:  # its trail tells what became of it
        node = None
    if as_json:
        shown = node and node.model_dump(mode="json")
        print_json({"node": shown, "trail": trail.model_dump(mode="json")})
        return
    if node is None:
        say(f"node {node_id} is no longer there; what happened to it:", style="yellow")
    else:
        _print_node(node)
    print_table(
        ("at", "pass", "event", "details"),
        (
            (
                event.at,
                event.pass_number,
                event.event,
                ", ".join(f"{name} {cell(value)}" for name, value in event.details.items()),
            )
            for event in trail.events
        ),
    )


def _print_node(node: NodeAnswer) -> None:
    from memci.cli.output import cell, say

    say(node.content)
    say()
    lines = {
        "kind": f"{node.kind}, {node.type}{', in focus' if node.focus else ''}",
        "phrase": node.phrase,
        "keywords": cell(node.keywords),
        "length": f"{node.length} of {node.original_length} characters",
        "importance": f"{node.importance:.2f} by {node.links} links; worth {node.worth:.1f}",
        "scanned": f"{node.scan_count} times, last in pass {node.last_pass}",
        "messages": cell(node.message_ids),
    }
    for name, value in lines.items():
        say(f"{name:<10} {value}")
    say()
