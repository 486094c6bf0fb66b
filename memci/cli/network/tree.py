"""A network as trees in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from memci.cli.network.forest import Branch, forest_of
from memci.cli.output import bar, cell, console, counted, hint, printable, shortened
from memci.domain.memory.scan import Forgetting
from memci.shapes.network import NetworkAnswer, NetworkLink, NetworkNode

_BAR_CELLS = 6
_PHRASE = 72
_DANGLING_EACH = 5
_PLAIN, _FOCUS, _GONE, _ASIDE = "", "bold cyan", "yellow", "dim"


def print_tree(network: NetworkAnswer, depth: int) -> None:
    """Print it from the focus points outward; lines are cut on a terminal, never in a pipe."""
    screen = console()
    _print(screen, Text(headline(network), style="bold"))
    forest = forest_of(network, depth)
    for tree in forest.focus:
        _print_branch(screen, tree)
    if forest.apart:
        if forest.focus:
            _print(screen, Text("out of reach of the focus:", style=_ASIDE))
        for tree in forest.apart:
            _print_branch(screen, tree)
    if left_out := told_left_out(network):
        hint(f"{left_out}: --limit shows more")


def headline(network: NetworkAnswer) -> str:
    """Say whose network it is, of when, and how large."""
    when = "now"
    if network.pass_number is not None:
        when = f"as pass {network.pass_number} left it, {cell(network.taken_at)}"
    nodes = counted(len(network.nodes) + network.left_out.nodes, "node")
    links = counted(len(network.links) + network.left_out.links, "link")
    return f"{network.agent_id}, {when}: {nodes}, {links}"


def told_left_out(network: NetworkAnswer) -> str:
    """Say what a bounded answer does not show; empty if it shows all."""
    left = network.left_out
    parts = [counted(left.nodes, "node")] * bool(left.nodes)
    parts += [counted(left.links, "link")] * bool(left.links)
    return f"not shown: {', '.join(parts)}" if parts else ""


def name_of(node: NetworkNode) -> str:
    """Return what a node is called: its phrase, or what is known of one that is gone."""
    if node.phrase is not None:
        return printable(shortened(node.phrase, _PHRASE))
    event = node.last_event
    if event is None:
        return "(gone)"
    what = what_ended(node)
    return f"({printable(what)} in pass {event.pass_number})"


def what_ended(node: NetworkNode) -> str:
    """Return what became of a node that is gone; a network that was switched forgot nothing."""
    event = node.last_event
    if event is None:
        return "gone"
    switched = event.details.get("reason") == Forgetting.SWITCHED
    return str(Forgetting.SWITCHED) if switched else event.event


def _print_branch(screen: Console, root: Branch) -> None:
    for line in _lines(root):
        _print(screen, line)


def _lines(root: Branch) -> Iterator[Text]:
    """Yield the lines of a tree; without recursion, since it may be deep."""
    yield Text.assemble("● ", *_told(root.node))
    stack = [("", iter(_children(root)))]
    while stack:
        indent, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            continue
        what, is_last = child
        yield Text.assemble((indent + ("└─ " if is_last else "├─ "), _ASIDE), *_line(what))
        if isinstance(what, Branch):
            stack.append((indent + ("   " if is_last else "│  "), iter(_children(what))))


def _children(branch: Branch) -> list[tuple[Branch | NetworkLink | str, bool]]:
    """Return what hangs on a branch; the last is marked."""
    hanging: list[Branch | NetworkLink | str] = [*branch.twigs, *branch.dangling[:_DANGLING_EACH]]
    if more := len(branch.dangling) - _DANGLING_EACH:
        hanging += [f"… {counted(more, 'more link')} to what is forgotten"] * (more > 0)
    if branch.farther:
        hanging.append(f"… {counted(branch.farther, 'node')} farther out (--depth)")
    return [(each, place == len(hanging)) for place, each in enumerate(hanging, 1)]


def _line(what: Branch | NetworkLink | str) -> Iterable[tuple[str, str]]:
    if isinstance(what, str):
        return [(what, _ASIDE)]
    if isinstance(what, NetworkLink):
        relation, about = _word(what.relation), _word(what.hint)
        return [
            *_strength(what.strength, "⇢", relation),
            (f"#{what.target} forgotten", _GONE), (f": {about}" if about else "", _GONE),
        ]  # fmt: skip
    bond = what.bond
    joined = _strength(bond.strength, bond.arrow, _word(bond.relation)) if bond else []
    return [*joined, *_told(what.node)]


def _strength(strength: float, arrow: str, relation: str) -> Sequence[tuple[str, str]]:
    named = f" {relation}" if relation else ""
    return [(bar(strength, _BAR_CELLS), "green"), (f" {strength:.2f} {arrow}{named} ", _ASIDE)]


def _told(node: NetworkNode) -> Sequence[tuple[str, str]]:
    style = _FOCUS if node.focus else _GONE if node.gone else _PLAIN
    share = node.length / max(1, node.original_length)
    length = f", {share:.0%} of {node.original_length}" if node.kind == "memory" else ""
    # Words come last: they are what a narrow terminal cuts.
    numbers = f"#{node.id} importance {node.importance:.2f}{length}  "
    return [(numbers, _ASIDE), (name_of(node), style)]


def _word(text: str | None) -> str:
    return printable(shortened(text or "", _PHRASE))


def _print(screen: Console, line: Text) -> None:
    if screen.is_terminal:
        line.truncate(screen.width, overflow="ellipsis")
    screen.print(line, soft_wrap=True)
