"""A network in memory that applies the rules of the domain only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memci.domain.memory.compression_scan import (
    Compress,
    Forgotten,
    Protected,
    ScannedNode,
    scan,
)
from memci.domain.memory.creation import (
    AnnotatedSegment,
    Focus,
    NetworkState,
    Similarities,
    focus_after,
    plan_creation,
)
from memci.domain.memory.node import (
    MIN_STRENGTH,
    NodeKind,
    NodeType,
    break_threshold,
    decay_factor,
    importance,
)
from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import language_of
from memci.language.names import key_entities

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)


def segment(
    text: str,
    entities: Sequence[str] = (),
    keywords: Sequence[str] = (),
    session: str | None = "s1",
    seq: int = 1,
) -> AnnotatedSegment:
    return AnnotatedSegment(
        text=text,
        seqs=(seq,),
        language=language_of(text),
        phrase=text[:40].strip(),
        keywords=tuple(keywords),
        entities=key_entities(entities, keywords),
        type=NodeType.EPISODIC,
        worth=5.0,
        session_id=session,
        user_id=None,
        said_at=SAID_AT,
    )


def decayed(strength: float, parameters: MemoryParameters) -> float | None:
    """Return an unlocked link's strength after one scan; None: the link breaks (M12.3)."""
    left = max(strength, MIN_STRENGTH) * decay_factor(parameters)
    return None if left < break_threshold(parameters) else left


@dataclass
class PureNode:
    kind: NodeKind
    content: str
    original_length: int
    session: str | None
    scan_count: int = 0


@dataclass
class PureNetwork:
    parameters: MemoryParameters
    compress: Callable[[str, int], str]
    nodes: dict[int, PureNode] = field(default_factory=dict)
    links: dict[tuple[int, int], float] = field(default_factory=dict)
    focus: Focus = ()
    focus_ids: tuple[int, ...] = ()
    entities: dict[str, int] = field(default_factory=dict)
    last_id: int = 0

    def remember(self, segments: Sequence[AnnotatedSegment]) -> None:
        memories = {i: n for i, n in self.nodes.items() if n.kind is NodeKind.MEMORY}
        ground = NetworkState(
            focus=self.focus,
            entities={key: node for key, node in self.entities.items() if node in self.nodes},
            phrases={i: node.content[:40] for i, node in memories.items()},
            previous={node.session: i for i, node in sorted(memories.items())},
            last_node_id=self.last_id,
            room=2**62,
        )
        nothing = [{} for _ in segments]
        likeness = Similarities(nothing, nothing)
        creation = plan_creation(segments, ground, nothing, likeness, self.parameters)
        for pair in self.links:
            if creation.entered & set(pair):
                self.links[pair] = 1.0
        for node in creation.nodes:
            kind = PureNode(node.kind, node.content, len(node.content), node.session_id)
            self.nodes[node.id] = kind
            if node.entity_key is not None:
                self.entities[node.entity_key] = node.id
            self.last_id = node.id
        self.links |= {(link.source, link.target): link.strength for link in creation.links}
        self.focus_ids = creation.focus
        for each in segments:
            self.focus = focus_after(self.focus, each, self.parameters.focus_limit)
        assert self.focus_ids == tuple(self.entities[each.key] for each in self.focus)

    def importance_of(self, node: int) -> float:
        return importance(
            strength
            for (source, target), strength in self.links.items()
            if source == node and target in self.nodes
        )

    def order(self) -> list[int]:
        return sorted(self.nodes, key=lambda node: (self.nodes[node].scan_count, node))

    def run_pass(self, order: Sequence[int] | None = None) -> None:
        order = self.order() if order is None else order
        nodes = [
            ScannedNode(
                i, self.nodes[i].kind, len(self.nodes[i].content), self.nodes[i].original_length
            )
            for i in order
        ]
        supports: dict[int, dict[int, float]] = {}
        for (source, target), strength in self.links.items():
            if target in self.nodes:
                supports.setdefault(source, {})[target] = strength
        for node, verdict in scan(nodes, supports, self.focus_ids, self.parameters):
            self.nodes[node.id].scan_count += 1
            if isinstance(verdict, Protected):
                continue
            self._fade(node.id)
            if isinstance(verdict, Forgotten):
                del self.nodes[node.id]
                self.links = {p: s for p, s in self.links.items() if p[0] != node.id}
            elif isinstance(verdict, Compress):
                content = self.nodes[node.id].content
                self.nodes[node.id].content = self.compress(content, verdict.target)

    def _fade(self, source: int) -> None:
        for pair in [p for p in self.links if p[0] == source and p[1] not in self.focus_ids]:
            left = decayed(self.links[pair], self.parameters)
            if left is None:
                del self.links[pair]
            else:
                self.links[pair] = left
