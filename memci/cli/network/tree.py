"""A network as trees in the terminal, or as a DOT file for Graphviz."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from rich.text import Text

from memci.cli.output import (
    bar,
    cell,
    console,
    counted,
    print_cut,
    printable,
    shortened,
    tree_below,
)
from memci.domain.memory.compression_scan import Forgetting
from memci.schemas.network import NetworkAnswer, NetworkLink, NetworkNode


class ParentLinks(NamedTuple):
    """The links between a node and its parent: from the parent, to it, or both."""

    outward: NetworkLink | None
    inward: NetworkLink | None

    @property
    def strength(self) -> float:
        """Strength of the stronger link."""
        return max(each.strength for each in self if each is not None)

    @property
    def relation(self) -> str | None:
        """Name of the link from the parent, or else of the link to it."""
        link = self.outward or self.inward
        return link.relation if link else None

    @property
    def arrow(self) -> str:
        """Arrow that shows the directions of the links."""
        return "↔" if self.outward and self.inward else "→" if self.outward else "←"


@dataclass
class TreeNode:
    """A node of a tree, with the links to its parent, and its children."""

    node: NetworkNode
    parent_links: ParentLinks | None = None
    children: list[TreeNode] = field(default_factory=list)
    # Links to what is forgotten, the strongest first.
    dangling: list[NetworkLink] = field(default_factory=list)
    hidden: int = 0  # number of descendants that lie too deep to be printed


def trees_of(network: NetworkAnswer, depth: int) -> tuple[list[TreeNode], list[TreeNode]]:
    """Return a network as trees: shortest paths from the focus, then strongest links.

    First trees from the focus points, then trees of the nodes that they do not reach. Nodes more
    than ``depth`` links away from the root of their tree are only counted.
    """
    layout = _Layout(network, depth)
    focus = layout.trees(network.focus)
    return focus, [tree for node in network.nodes for tree in layout.trees([node.id])]


class _Layout:
    def __init__(self, network: NetworkAnswer, depth: int) -> None:
        self._depth = depth
        self._nodes = {node.id: node for node in network.nodes}
        self._placed: set[int] = set()
        self._links = {(link.source, link.target): link for link in network.links}
        self._neighbours: dict[int, set[int]] = {}
        self._dangling: dict[int, list[NetworkLink]] = {}
        for link in sorted(network.links, key=attrgetter("strength"), reverse=True):
            if link.dangling:
                self._dangling.setdefault(link.source, []).append(link)
            else:
                self._neighbours.setdefault(link.source, set()).add(link.target)
                self._neighbours.setdefault(link.target, set()).add(link.source)

    def trees(self, roots: Iterable[int]) -> list[TreeNode]:
        """Return the trees of these roots, layer by layer, without nodes placed before."""
        trees = [self._place(root) for root in roots if self._is_free(root)]
        # Each node with its depth, and its nearest ancestor that is printed.
        queue = deque((tree, 0, tree) for tree in trees)
        while queue:
            tree_node, depth, shown = queue.popleft()
            for child in self._free_children(tree_node):
                if depth < self._depth:
                    tree_node.children.append(child)
                    queue.append((child, depth + 1, child))
                else:
                    shown.hidden += 1
                    queue.append((child, depth + 1, shown))
        return trees

    def _free_children(self, tree_node: TreeNode) -> list[TreeNode]:
        parent = tree_node.node.id
        links = {
            child: ParentLinks(self._links.get((parent, child)), self._links.get((child, parent)))
            for child in self._neighbours.get(parent, ())
            if self._is_free(child)
        }
        order = sorted(links, key=lambda child: (-links[child].strength, child))
        return [self._place(child, links[child]) for child in order]

    def _is_free(self, node_id: int) -> bool:
        return node_id in self._nodes and node_id not in self._placed

    def _place(self, node_id: int, parent_links: ParentLinks | None = None) -> TreeNode:
        self._placed.add(node_id)
        return TreeNode(
            self._nodes[node_id], parent_links, dangling=self._dangling.get(node_id, [])
        )


# What is on a line below a node: a node, a link to what is forgotten, or a note.
_Entry: TypeAlias = TreeNode | NetworkLink | str

_BAR_CELLS = 6
_PHRASE = 72
_DANGLING_EACH = 5
_PLAIN, _FOCUS, _GONE, _ASIDE = "", "bold cyan", "yellow", "dim"


def print_tree(network: NetworkAnswer, depth: int) -> None:
    """Print the trees; lines are cut to the width of a terminal."""
    screen = console()
    print_cut(screen, Text(headline(network), style="bold"))
    focus, unreachable = trees_of(network, depth)
    lines = [line for tree in focus for line in _lines(tree)]
    if unreachable and focus:
        lines.append(Text("not reachable from the focus:", style=_ASIDE))
    lines += [line for tree in unreachable for line in _lines(tree)]
    for line in lines:
        print_cut(screen, line)


def headline(network: NetworkAnswer) -> str:
    """Return a line with the agent, the pass or now, and the sizes."""
    when = "now"
    if network.pass_number is not None:
        when = f"after pass {network.pass_number}, {cell(network.taken_at)}"
    nodes = counted(len(network.nodes) + network.left_out.nodes, "node")
    links = counted(len(network.links) + network.left_out.links, "link")
    return f"{network.agent_id}, {when}: {nodes}, {links}"


def left_out_note(network: NetworkAnswer) -> str:
    """Return what the answer leaves out; empty if it is complete."""
    left = network.left_out
    parts = [counted(left.nodes, "node")] * bool(left.nodes)
    parts += [counted(left.links, "link")] * bool(left.links)
    return f"not shown: {', '.join(parts)}" if parts else ""


def name_of(node: NetworkNode) -> str:
    """Return the phrase of a node, or how a removed node ended."""
    if node.phrase is not None:
        return printable(shortened(node.phrase, _PHRASE))
    event = node.last_event
    return f"({printable(what_ended(node))} in pass {event.pass_number})" if event else "(gone)"


def share_of(node: NetworkNode) -> float:
    """Return the length of a node's content as a share of the original."""
    return node.length / max(1, node.original_length)


def what_ended(node: NetworkNode) -> str:
    """Return how a removed node ended; a switch of networks is not a forgetting."""
    event = node.last_event
    if event is None:
        return "gone"
    switched = event.details.get("reason") == Forgetting.SWITCHED
    return str(Forgetting.SWITCHED) if switched else event.event


def _lines(root: TreeNode) -> Iterator[Text]:
    yield Text.assemble("● ", *_node_text(root.node))
    top: _Entry = root
    for branches, entry in tree_below(top, _children):
        yield Text.assemble((branches, _ASIDE), *_line(entry))


def _children(parent: _Entry) -> list[_Entry]:
    """Return the entries below a node; links and notes have none."""
    if not isinstance(parent, TreeNode):
        return []
    below: list[_Entry] = [*parent.children, *parent.dangling[:_DANGLING_EACH]]
    if more := len(parent.dangling) - _DANGLING_EACH:
        below += [f"… {counted(more, 'more link')} to what is forgotten"] * (more > 0)
    if parent.hidden:
        below.append(f"… {counted(parent.hidden, 'node')} farther out (--depth)")
    return below


def _line(what: _Entry) -> Iterable[tuple[str, str]]:
    if isinstance(what, str):
        return [(what, _ASIDE)]
    if isinstance(what, NetworkLink):
        relation, about = _word(what.relation), _word(what.hint)
        return [
            *_strength(what.strength, "⇢", relation),
            (f"#{what.target} forgotten", _GONE), (f": {about}" if about else "", _GONE),
        ]  # fmt: skip
    links = what.parent_links
    joined = _strength(links.strength, links.arrow, _word(links.relation)) if links else []
    return [*joined, *_node_text(what.node)]


def _strength(strength: float, arrow: str, relation: str) -> Sequence[tuple[str, str]]:
    named = f" {relation}" if relation else ""
    return [(bar(strength, _BAR_CELLS), "green"), (f" {strength:.2f} {arrow}{named} ", _ASIDE)]


def _node_text(node: NetworkNode) -> Sequence[tuple[str, str]]:
    style = _FOCUS if node.focus else _GONE if node.removal_reason else _PLAIN
    length = f", {share_of(node):.0%} of {node.original_length}" if node.kind == "memory" else ""
    # Words come last: a narrow terminal cuts the end of a line.
    numbers = f"#{node.id} importance {node.importance:.2f}{length}  "
    return [(numbers, _ASIDE), (name_of(node), style)]


def _word(text: str | None) -> str:
    return printable(shortened(text or "", _PHRASE))


_WORDS = 40


def dot_of(network: NetworkAnswer) -> str:
    """Return the network in DOT; forgotten targets of links are dashed nodes."""
    return "\n".join(_dot_lines(network)) + "\n"


def _dot_lines(network: NetworkAnswer) -> Iterator[str]:
    yield "digraph memory {"
    yield f"  label={quoted(headline(network))};"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    yield '  edge [fontname="sans-serif", fontsize=10];'
    for node in network.nodes:
        yield f"  {node.id} [{_node(node)}];"
    hints = {link.target: link.hint for link in reversed(network.links) if link.dangling}
    for target, name in sorted(hints.items()):
        yield f"  {target} [label={quoted(name or f'#{target}')}, style=dashed, fontcolor=gray40];"
    for link in network.links:
        yield f"  {link.source} -> {link.target} [{_link(link)}];"
    yield "}"


def _node(node: NetworkNode) -> str:
    fades = f" ({share_of(node):.0%})" if node.kind == "memory" else ""
    shape = ", shape=ellipse" if node.kind == "entity" else ""
    focus = ", penwidth=3" if node.focus else ""
    return f"label={quoted(name_of(node) + fades)}{shape}{focus}"


def _link(link: NetworkLink) -> str:
    style = ", style=dashed" if link.dangling else ""
    width = 0.3 + 2.7 * link.strength
    return f"label={quoted(link.relation or '')}, penwidth={width:.2f}{style}"


def quoted(text: str) -> str:
    """Return text as a DOT string; backslashes and quotes are escaped."""
    line = printable(shortened(text, _WORDS * 2))
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'
