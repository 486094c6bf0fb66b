"""A network laid out as trees: from the focus points outward, each node once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from memci.shapes.network import NetworkAnswer, NetworkLink, NetworkNode


class Bond(NamedTuple):
    """What joins a node to the one it hangs on; seen from there, at least one of both ways."""

    outward: NetworkLink | None
    inward: NetworkLink | None

    @property
    def strength(self) -> float:
        """That of the stronger link."""
        return max(each.strength for each in self if each is not None)

    @property
    def relation(self) -> str | None:
        """What it is to the other: the name of the link that leads to it, if one does."""
        link = self.outward or self.inward
        return link.relation if link else None

    @property
    def arrow(self) -> str:
        """Which ways the links go."""
        return "↔" if self.outward and self.inward else "→" if self.outward else "←"


@dataclass
class Branch:
    """A node, what joins it to the one that it hangs on, and what hangs on it."""

    node: NetworkNode
    bond: Bond | None = None
    twigs: list[Branch] = field(default_factory=list)
    # Links to what is forgotten, the strongest first.
    dangling: list[NetworkLink] = field(default_factory=list)
    farther: int = 0  # nodes behind it that lie too deep to be shown


@dataclass
class Forest:
    """Trees from the focus points, and trees of what no link leads to from there."""

    focus: list[Branch]
    apart: list[Branch]


def forest_of(network: NetworkAnswer, depth: int) -> Forest:
    """Lay a network out: a node hangs where the fewest links lead to it, then the strongest.

    Nodes more than ``depth`` links away from the root of their tree are only counted.
    """
    layout = _Layout(network, depth)
    focus = layout.grow(network.focus)
    apart = [tree for node in network.nodes for tree in layout.grow([node.id])]
    return Forest(focus, apart)


class _Layout:
    def __init__(self, network: NetworkAnswer, depth: int) -> None:
        self._depth = depth
        self._nodes = {node.id: node for node in network.nodes}
        self._placed: set[int] = set()
        self._links = {(link.source, link.target): link for link in network.links}
        self._around: dict[int, set[int]] = {}
        self._dangling: dict[int, list[NetworkLink]] = {}
        for link in sorted(network.links, key=attrgetter("strength"), reverse=True):
            if link.dangling:
                self._dangling.setdefault(link.source, []).append(link)
            else:
                self._around.setdefault(link.source, set()).add(link.target)
                self._around.setdefault(link.target, set()).add(link.source)

    def grow(self, roots: Iterable[int]) -> list[Branch]:
        """Return the trees of these roots, layer by layer; what stands already stays out."""
        trees = [self._place(root) for root in roots if self._is_free(root)]
        # Each branch with its depth, and the last one on its way that is shown.
        queue = deque((tree, 0, tree) for tree in trees)
        while queue:
            branch, depth, shown = queue.popleft()
            for twig in self._twigs(branch):
                if depth < self._depth:
                    branch.twigs.append(twig)
                    queue.append((twig, depth + 1, twig))
                else:
                    shown.farther += 1
                    queue.append((twig, depth + 1, shown))
        return trees

    def _twigs(self, branch: Branch) -> list[Branch]:
        here = branch.node.id
        bonds = {
            there: Bond(self._links.get((here, there)), self._links.get((there, here)))
            for there in self._around.get(here, ())
            if self._is_free(there)
        }
        order = sorted(bonds, key=lambda there: (-bonds[there].strength, there))
        return [self._place(there, bonds[there]) for there in order]

    def _is_free(self, node_id: int) -> bool:
        return node_id in self._nodes and node_id not in self._placed

    def _place(self, node_id: int, bond: Bond | None = None) -> Branch:
        self._placed.add(node_id)
        return Branch(self._nodes[node_id], bond, dangling=self._dangling.get(node_id, []))
