"""``memci nodes``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memci.cli.options import AgentOption, CursorOption, JsonOption, LimitOption
from memci.domain.memory.node import NodeKind, NodeType
from memci.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from memci.client import Agent
    from memci.shapes.agent import NodeAnswer
    from memci.shapes.network import NetworkAnswer


def nodes(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    node: Annotated[int | None, typer.Argument(metavar="ID", help="Show this one.")] = None,
    agent: AgentOption,
    kind: Annotated[NodeKind | None, typer.Option(help="Only this kind.")] = None,
    node_type: Annotated[NodeType | None, typer.Option("--type", help="Only this type.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    graph: Annotated[
        bool, typer.Option("--graph", help="Show them with their links, from the focus outwards.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print that as DOT, for Graphviz.")] = False,
    number: Annotated[
        int | None, typer.Option("--pass", min=1, metavar="N", help="… as this pass left it.")
    ] = None,
    depth: Annotated[int, typer.Option(min=0, help="Links outwards that --graph shows.")] = 4,
    as_json: JsonOption = False,
) -> None:
    """List memories and entities, show one, or their links.

    One is shown with what happened to it; that stays when it is forgotten.
    """
    from memci.cli.connection import agent_of
    from memci.cli.output import hint, print_json, print_next, print_table, shortened

    as_network = graph or dot or number is not None
    if as_network and any(each is not None for each in (node, kind, node_type, cursor)):
        raise InvalidInputError(
            "--graph, --dot and --pass show the whole network: "
            "they go without ID, --kind, --type and --cursor"
        )
    with agent_of(agent) as memory:
        if as_network:
            network = memory.network(number=number, limit=limit)
            _show_network(network, "json" if as_json else "dot" if dot else "tree", depth)
            if number not in (None, network.pass_number):
                hint(f"of pass {number} no snapshot is kept: this is what was before it")
            return
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
        ("id", "kind", "tier", "importance", "length", "of", "scans", "content"),
        (
            (
                each.id,
                f"{each.kind}{' (focus)' if each.focus else ''}",
                _tier(each),
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


def _show_network(network: NetworkAnswer, form: Literal["json", "dot", "tree"], depth: int) -> None:
    from memci.cli.network.dot import dot_of
    from memci.cli.network.tree import print_tree, told_left_out
    from memci.cli.output import hint, print_json

    if form == "tree":
        print_tree(network, depth)
    elif form == "json":
        print_json(network)
    else:
        sys.stdout.write(dot_of(network))
        if left_out := told_left_out(network):
            hint(f"{left_out}: --limit shows more")


def _tier(node: NodeAnswer) -> str:
    """Return the tier of a memory, and which one says otherwise by now."""
    if node.kind == "entity":
        return ""
    return node.tier if node.superseded_by is None else f"{node.tier}, now {node.superseded_by}"


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


def _term(node: NodeAnswer) -> str:
    from memci.cli.output import cell

    tier: str = node.tier
    if node.expires_at is not None:
        tier += f" until {cell(node.expires_at)}"
    if node.promoted_at is not None:
        tier += f", promoted {cell(node.promoted_at)}"
    if node.superseded_by is not None:
        tier += f"; superseded by {node.superseded_by} since {cell(node.superseded_at)}"
    return tier


def _print_node(node: NodeAnswer) -> None:
    from memci.cli.output import cell, say

    say(node.content)
    say()
    lines = {
        "kind": f"{node.kind}, {node.type}{', in focus' if node.focus else ''}",
        "phrase": node.phrase,
        "keywords": cell(node.keywords),
        "tier": _term(node),
        "length": f"{node.length} of {node.original_length} characters",
        "importance": f"{node.importance:.2f} by {node.links} links; worth {node.worth:.1f}",
        "scanned": f"{node.scan_count} times, last in pass {node.last_pass}",
        "messages": cell(node.message_ids),
    }
    for name, value in lines.items():
        say(f"{name:<10} {value}")
    say()
