"""A network as DOT, which Graphviz draws."""

from __future__ import annotations

from collections.abc import Iterator

from memci.cli.network.tree import headline, name_of
from memci.cli.output import printable, shortened
from memci.shapes.network import NetworkAnswer, NetworkLink, NetworkNode

_WORDS = 40


def dot_of(network: NetworkAnswer) -> str:
    """Return it as DOT; what is forgotten stands in it as a dashed node."""
    return "\n".join(_lines(network)) + "\n"


def _lines(network: NetworkAnswer) -> Iterator[str]:
    yield "digraph memory {"
    yield f"  label={quoted(headline(network))};"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    yield '  edge [fontname="sans-serif", fontsize=10];'
    for node in network.nodes:
        yield f"  {node.id} [{_node(node)}];"
    hints = {link.target: link.hint for link in reversed(network.links) if link.dangling}
    for target, hint in sorted(hints.items()):
        yield f"  {target} [label={quoted(hint or f'#{target}')}, style=dashed, fontcolor=gray40];"
    for link in network.links:
        yield f"  {link.source} -> {link.target} [{_link(link)}];"
    yield "}"


def _node(node: NetworkNode) -> str:
    share = node.length / max(1, node.original_length)
    fades = f" ({share:.0%})" if node.kind == "memory" else ""
    shape = ", shape=ellipse" if node.kind == "entity" else ""
    focus = ", penwidth=3" if node.focus else ""
    return f"label={quoted(name_of(node) + fades)}{shape}{focus}"


def _link(link: NetworkLink) -> str:
    style = ", style=dashed" if link.dangling else ""
    width = 0.3 + 2.7 * link.strength
    return f"label={quoted(link.relation or '')}, penwidth={width:.2f}{style}"


def quoted(text: str) -> str:
    """Return text as a DOT string that reads as it stands, whatever is in it.

    In a label a backslash begins an escape; beside it only a quote is special.
    """
    line = printable(shortened(text, _WORDS * 2))
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'
