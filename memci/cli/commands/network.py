"""Commands that show the memory network: ``nodes``, ``plot`` and ``watch``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci import errors
from memci.cli import output
from memci.cli.connection import agent_of
from memci.cli.options import (
    AgentOption,
    CursorOption,
    LimitOption,
    SinceOption,
    UntilOption,
    UserOption,
    id_option,
)
from memci.domain.memory.node import NodeKind, NodeType

if TYPE_CHECKING:
    from rich.console import Console

    from memci.cli.network.watch import Observation, Watcher
    from memci.client import Agent
    from memci.schemas.agents import NodeAnswer
    from memci.schemas.network import FadingAnswer, NetworkAnswer


def nodes(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    node: Annotated[int | None, typer.Argument(metavar="ID", help="Show this node.")] = None,
    agent: AgentOption,
    kind: Annotated[NodeKind | None, typer.Option(help="Only this kind.")] = None,
    node_type: Annotated[NodeType | None, typer.Option("--type", help="Only this type.")] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pinned/--unpinned", help="Only pinned ones, or only others.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="Words that all are in the text.")] = None,
    session: Annotated[str | None, id_option(help="Only those of this session.")] = None,
    user: UserOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    graph: Annotated[
        bool, typer.Option("--graph", help="Show the network as a tree of links from the focus.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print the network as Graphviz DOT.")] = False,
    number: Annotated[
        int | None,
        typer.Option("--pass", min=1, metavar="N", help="Show the network as it was after pass N."),
    ] = None,
    depth: Annotated[int, typer.Option(min=0, help="Levels of links that --graph shows.")] = 4,
) -> None:
    """List memories and entities, show one, or their links.

    With ID, print the node and its history. The history stays after the node is forgotten.
    """
    as_network = graph or dot or number is not None
    if as_network and any(each is not None for each in (node, kind, node_type, cursor)):
        raise errors.InvalidInputError(
            "--graph, --dot and --pass show the whole network: "
            "do not use them with ID, --kind, --type or --cursor"
        )
    with agent_of(agent) as memory:
        if as_network:
            network = memory.network(number=number, limit=limit)
            if not output.printed_json(network):
                show_network(network, depth, as_dot=dot)
            if number not in (None, network.pass_number):
                output.hint(f"pass {number} has no snapshot; this is the last one before it")
            return
        if node is not None:
            _show_node(memory, node)
            return
        options: dict[str, Any] = {"limit": limit, "cursor": cursor}
        options |= {"kind": kind and kind.value, "type": node_type and node_type.value}
        options |= {"pinned": pinned, "text": text, "session_id": session, "user_id": user}
        options |= {"since": since, "until": until}
        listed = memory.nodes(**options)
    rows = (
        {
            "id": each.id,
            "kind": f"{each.kind}{' (focus)' if each.focus else ''}",
            "tier": _tier(each),
            "importance": each.importance,
            "length": each.length,
            "of": each.original_length,
            "scans": each.scan_count,
            "content": output.shortened(each.content, 80),
        }
        for each in listed.nodes
    )
    output.print_list(listed, rows)


def show_network(network: NetworkAnswer, depth: int, *, as_dot: bool) -> None:
    """Print a network as trees or as DOT, then what is left out."""
    from memci.cli.network.tree import dot_of, left_out_note, print_tree

    if as_dot:
        sys.stdout.write(dot_of(network))
    else:
        print_tree(network, depth)
    if left_out := left_out_note(network):
        output.hint(f"{left_out}: --limit shows more")


def _tier(node: NodeAnswer) -> str:
    """Return the tier of a memory, and the id of the memory that superseded it."""
    if node.kind == "entity":
        return ""
    if node.pinned:
        return "pinned"
    return node.tier if node.superseded_by is None else f"{node.tier}, now {node.superseded_by}"


def _show_node(memory: Agent, node_id: int) -> None:
    trail = memory.trail(node_id, limit=500)
    try:
        node = memory.node(node_id)
    except errors.NotFoundError:  # its trail says what became of it
        node = None
    if output.printed_json({"node": node, "trail": trail}):
        return
    if node is None:
        output.say(f"node {node_id} no longer exists; its history:", style="yellow")
    else:
        _print_node(node)
    output.print_rows(
        {
            "at": event.at,
            "pass": event.pass_number,
            "event": event.event,
            "details": ", ".join(f"{name} {output.cell(it)}" for name, it in event.details.items()),
        }
        for event in trail.events
    )


def _tier_details(node: NodeAnswer) -> str:
    tier: str = node.tier
    if node.expires_at is not None:
        tier += f" until {output.cell(node.expires_at)}"
    if node.promoted_at is not None:
        tier += f", promoted {output.cell(node.promoted_at)}"
    if node.superseded_by is not None:
        tier += f"; superseded by {node.superseded_by} since {output.cell(node.superseded_at)}"
    return tier


def _print_node(node: NodeAnswer) -> None:
    output.say(node.content)
    output.say()
    lines = {
        "kind": f"{node.kind}, {node.type}{', in focus' if node.focus else ''}",
        "phrase": node.phrase,
        "keywords": output.cell(node.keywords),
        "tier": _tier_details(node),
        "length": f"{node.length} of {node.original_length} characters",
        "importance": f"{node.importance:.2f} by {node.links} links; worth {node.worth:.1f}",
        "scanned": f"{node.scan_count} times, last in pass {node.last_pass}",
        "messages": output.cell(node.message_ids),
    }
    for name, value in lines.items():
        output.say(f"{name:<10} {value}")
    output.say()


_IMAGE_FORMATS = ("png", "svg", "pdf")


def plot(
    *,
    agent: AgentOption,
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write: .png, .svg or .pdf."),
    ] = None,
    passes: Annotated[int, typer.Option(min=2, max=500, help="Maximum number of passes.")] = 200,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of memories.")] = 500,
) -> None:
    """Draw how memories fade: strength, importance, length.

    --json prints the numbers for other programs. An existing file is replaced.
    """
    kind = _image_format(file) if file else None
    if file is None and not output.PRINTS_JSON.get():
        raise errors.InvalidInputError("expected -o FILE, such as -o memories.png, or --json")
    with agent_of(agent) as memory:
        fading = memory.fading(passes=passes, limit=limit)
    printed = output.printed_json(fading)
    if file is None or kind is None:
        return
    if not fading.passes:
        raise errors.MemciError(
            f"nothing to draw: {agent} has no snapshot. Each pass stores one "
            f"(`memci memory compress --agent {agent}`)"
        )
    drawn = _draw(fading, kind)
    try:
        file.write_bytes(drawn)
    except OSError as error:
        raise errors.MemciError(f"{file} cannot be written: {error.strerror}") from None
    if printed:
        return
    memories = output.counted(len(fading.memories), "memory", "memories")
    output.say(f"{file}: {memories} over {output.counted(len(fading.passes), 'pass', 'passes')}")


def _draw(fading: FadingAnswer, kind: str) -> bytes:
    try:
        from memci.cli.network.fading_plot import plot as draw
    except ModuleNotFoundError as error:
        if error.name not in {"matplotlib", "numpy"}:
            raise
        raise errors.ConfigurationError(
            'plots need matplotlib, which is not installed: pip install "memci[plot]"; '
            "--json prints the numbers without it"
        ) from None
    return draw(fading, kind)


def _image_format(file: Path) -> str:
    kind = file.suffix.lower().removeprefix(".")
    if kind not in _IMAGE_FORMATS:
        raise errors.InvalidInputError(f"{file}: expected a name that ends in .png, .svg or .pdf")
    if not file.absolute().parent.is_dir():
        raise errors.InvalidInputError(f"{file}: there is no folder {file.parent}")
    return kind


def watch(
    *,
    agent: AgentOption,
    every: Annotated[
        float, typer.Option(min=0.2, metavar="SECONDS", help="Time between updates.")
    ] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print once and exit.")] = False,
) -> None:
    """Watch how an agent's memories fade, until Ctrl-C.

    The most faded memories come first; ↓ marks memories that the last pass shortened. In a pipe,
    and with --json, it prints once and exits.
    """
    from memci.cli.network.watch import Watcher, frame

    screen = output.console()
    with agent_of(agent) as memory:
        watcher = Watcher(memory)
        seen = watcher.observe()
        numbers = {
            "agent": seen.about,
            "latest_pass": seen.latest,
            "network": seen.network,
            "forgotten": seen.removed,
        }
        if output.printed_json(numbers):
            return
        if once or not screen.is_terminal:
            output.print_trimmed(frame(seen, height=None))
        else:
            _follow(watcher, seen, screen, every)


def _follow(watcher: Watcher, seen: Observation, screen: Console, every: float) -> None:
    """Redraw until Ctrl-C; keep trying while the server is unavailable."""
    from threading import Event

    from rich.live import Live

    from memci.cli.network.watch import frame

    never, trouble = Event(), None
    with Live(console=screen, auto_refresh=False) as live:
        try:
            while True:
                live.update(frame(seen, height=screen.height, trouble=trouble), refresh=True)
                never.wait(every)
                try:
                    seen, trouble = watcher.observe(), None
                except (errors.RateLimitedError, errors.UnavailableError) as error:
                    trouble = f"{error}; trying again"
        except KeyboardInterrupt:
            return
