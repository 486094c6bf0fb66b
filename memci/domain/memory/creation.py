"""Plans what a creation job adds to a network: nodes, links, focus, slots (M5 to M10, M19).

Before any model call, ``focus_after`` and ``linked_entities`` return which relations need a name.
``plan_creation`` makes the plan under the lane's lock, on the network as it is then. The plan
contains the ids of new nodes, so it can be written unchanged.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import TypeAlias

from memci.domain.memory.compression_scan import short_phrase
from memci.domain.memory.node import LOCKED, Link, NodeKind, NodeTier, NodeType, relation_names
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import Passage
from memci.language.detection import Language
from memci.language.names import Entity
from memci.language.redaction import kinds_in_words


@dataclass(frozen=True, slots=True)
class Similarities:
    """Likeness of the segments of one job; the best of each are enough."""

    older: Sequence[Mapping[int, float]]  # of segment i: with nodes from before the job, by id
    within: Sequence[Mapping[int, float]]  # of segment i: with segments j < i, by index

    def similar_nodes(
        self, index: int, made: Mapping[int, int], parameters: MemoryParameters
    ) -> list[int]:
        """Return the nodes more similar to segment ``index`` than the threshold, best first (M8).

        ``made`` maps earlier segments of the job to their nodes.
        """
        likeness = dict(self.older[index])
        likeness |= {made[j]: each for j, each in self.within[index].items() if j in made}
        similar = [node for node in likeness if likeness[node] > parameters.related_threshold]
        return sorted(similar, key=lambda node: (-likeness[node], node))


Focus: TypeAlias = tuple[Entity, ...]


def mention(focus: Focus, entities: Sequence[Entity], limit: int) -> Focus:
    """Return the focus after ``entities`` (best first) were mentioned together (M5).

    The best becomes the newest. Beyond ``limit``, the least recently mentioned leave. Of more new
    entities than that, the best enter.
    """
    mentioned = list(dict.fromkeys(entities))[:limit]
    kept = [each for each in focus if each not in mentioned]
    return tuple((kept + mentioned[::-1])[-limit:]) if limit else ()


@dataclass(frozen=True, slots=True)
class AnnotatedSegment:
    """A topic segment with its annotations: the input of a memory node (M3, M4)."""

    text: str  # self-contained (R4)
    seqs: tuple[int, ...]
    language: Language
    phrase: str
    keywords: tuple[str, ...]  # best first
    entities: tuple[Entity, ...]  # best first
    type: NodeType
    session_id: str | None
    user_id: str | None
    said_at: datetime  # with the speaker's offset
    worth: float = 0.0  # 0 to 10, the judge's (R3)
    tier: NodeTier = NodeTier.LONG
    expires_at: datetime | None = None  # aware UTC; only of the short tier
    quoted: tuple[int, ...] = ()  # messages before ``seqs`` that the text quotes
    passages: tuple[Passage, ...] = ()  # its parts of messages
    restored: bool = False  # from old messages (M24)
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node to be written; ``segment``: the index of a memory's segment."""

    id: int
    kind: NodeKind
    type: NodeType
    content: str
    phrase: str
    keywords: tuple[str, ...]
    language: Language
    entity_key: str | None
    worth: float
    seqs: tuple[int, ...]
    session_id: str | None = None
    user_id: str | None = None
    said_at: datetime | None = None
    tier: NodeTier = NodeTier.LONG
    expires_at: datetime | None = None
    pinned: bool = False
    segment: int | None = None


@dataclass(frozen=True, slots=True)
class NetworkState:
    """The part of a network that a plan is made on."""

    focus: Focus
    entities: Mapping[str, int]  # living entity nodes by key, those of the focus included
    phrases: Mapping[int, str]  # of living memory nodes that may be linked to
    previous: Mapping[str | None, int]  # the last memory of each session; None: without one
    last_node_id: int
    room: int  # how many nodes may be added


@dataclass(frozen=True, slots=True)
class Creation:
    """The planned changes to the network."""

    nodes: tuple[NewNode, ...]
    links: tuple[Link, ...]
    focus: tuple[int, ...]  # node ids, least recently mentioned first
    entered: frozenset[int]  # older nodes that entered the focus: their links become 1.0


def focus_after(focus: Focus, segment: AnnotatedSegment, limit: int) -> Focus:
    """Return the focus after a segment (M5).

    A segment without entities does not change a focus that has points. If the focus is empty, the
    segment's phrase becomes the first point, since a memory without links would be forgotten at
    once. The entities of a restored segment go behind all focus points, as far as there is room
    (M24).
    """
    nothing_to_link_to = not segment.entities and not focus
    entities = (fallback_entity(segment),) if nothing_to_link_to else segment.entities
    if not segment.restored:
        return mention(focus, entities, limit)
    new = [each for each in dict.fromkeys(entities) if each not in focus]
    room = max(0, limit - len(focus))
    return (*new[:room][::-1], *focus)[-limit:] if limit else ()


def linked_entities(focus: Focus, segment: AnnotatedSegment) -> Focus:
    """Return the entities that a segment's memory is linked with: the focus after it (M6).

    A restored memory is also linked with its own entities outside the focus, so that recall finds
    it when they are mentioned again.
    """
    own = segment.entities if segment.restored else ()
    return tuple(dict.fromkeys((*focus, *own)))


def fallback_entity(segment: AnnotatedSegment) -> Entity:
    """Return the entity of a segment that names none."""
    # A placeholder that is cut would stay one.
    text = kinds_in_words(segment.text.strip())[:64]
    return Entity.named(kinds_in_words(segment.phrase) or text)


def plan_creation(
    segments: Sequence[AnnotatedSegment],
    state: NetworkState,
    relations: Sequence[Mapping[str, str]],
    similarities: Similarities,
    parameters: MemoryParameters,
) -> Creation:
    """Plan the nodes, links and focus changes of segments, taken in order (M5 to M9).

    ``relations``: for each segment, the names that the small model gave, by the focus point's key
    (M6). When the room is used up, the remaining segments make no node.
    """
    plan = _Plan(state, parameters)
    for index, segment in enumerate(segments):
        plan.attend(segment)
        if plan.room:
            plan.add_memory(index, segment, relations[index], similarities)
    return plan.finished()


def plan_mention(
    entity: Entity, state: NetworkState, language: Language, parameters: MemoryParameters
) -> Creation:
    """Plan how an entity enters the focus by itself (M5, M10)."""
    plan = _Plan(state, parameters)
    plan.set_focus(mention(state.focus, (entity,), parameters.focus_limit), language, ())
    return plan.finished()


@dataclass
class _Plan:
    state: NetworkState
    parameters: MemoryParameters
    nodes: list[NewNode] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    entered: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.focus = self.state.focus
        self.entities = dict(self.state.entities)
        self.phrases = dict(self.state.phrases)
        self.previous = dict(self.state.previous)
        self.made: dict[int, int] = {}  # memory nodes by the index of their segment

    @property
    def room(self) -> int:
        return self.state.room - len(self.nodes)

    @property
    def next_id(self) -> int:
        return self.state.last_node_id + len(self.nodes) + 1

    def finished(self) -> Creation:
        return Creation(
            nodes=tuple(self.nodes),
            links=tuple(self.links),
            focus=tuple(self.entities[each.key] for each in self.focus),
            entered=frozenset(self.entered),
        )

    def attend(self, segment: AnnotatedSegment) -> None:
        focus = focus_after(self.focus, segment, self.parameters.focus_limit)
        self.set_focus(focus, segment.language, segment.seqs)
        for entity in linked_entities((), segment):
            if entity.key not in self.entities and self.room > 1:  # the memory needs one
                self._add_entity(entity, segment.language, segment.seqs)

    def set_focus(self, focus: Focus, language: Language, seqs: tuple[int, ...]) -> None:
        for entity in focus:
            if entity.key not in self.entities and self.room:
                self._add_entity(entity, language, seqs)
            elif entity.key in self.state.entities and entity not in self.focus:
                self.entered.add(self.entities[entity.key])
        self.focus = tuple(each for each in focus if each.key in self.entities)

    def add_memory(
        self,
        index: int,
        segment: AnnotatedSegment,
        relations: Mapping[str, str],
        similarities: Similarities,
    ) -> None:
        node = _memory(self.next_id, index, segment)
        self.nodes.append(node)
        names = relation_names(segment.language)
        points = linked_entities(self.focus, segment)
        for entity in (each for each in points if each.key in self.entities):
            relation = relations.get(entity.key, names.related)
            self._link(node, self.entities[entity.key], entity.name, (relation, relation), LOCKED)
        neighbour = self.previous.get(segment.session_id)
        ordinary = self.parameters.link_initial_strength
        if neighbour is not None and neighbour in self.phrases:
            both_names = (names.previous, names.next)
            self._link(node, neighbour, self.phrases[neighbour], both_names, ordinary)
        similar = similarities.similar_nodes(index, self.made, self.parameters)
        others = [each for each in similar if each in self.phrases and each != neighbour]
        for other in others[: self.parameters.related_links]:
            both_names = (names.related, names.related)
            self._link(node, other, self.phrases[other], both_names, ordinary)
        self.made[index] = node.id
        self.phrases[node.id] = node.phrase
        self.previous[segment.session_id] = node.id

    def _link(
        self, node: NewNode, other: int, hint: str, names: tuple[str, str], strength: float
    ) -> None:
        """Link a new node and another both ways; ``names`` are to it and from it."""
        self.links.append(Link(node.id, other, names[0], strength, hint))
        self.links.append(Link(other, node.id, names[1], strength, node.phrase))

    def _add_entity(self, entity: Entity, language: Language, seqs: tuple[int, ...]) -> None:
        self.entities[entity.key] = self.next_id
        self.nodes.append(
            NewNode(
                id=self.next_id,
                kind=NodeKind.ENTITY,
                type=NodeType.SEMANTIC,
                content=entity.name,
                phrase=entity.name,
                keywords=(entity.name,),
                language=language,
                entity_key=entity.key,
                worth=0.0,
                seqs=seqs,
            )
        )


def _memory(node_id: int, index: int, segment: AnnotatedSegment) -> NewNode:
    return NewNode(
        id=node_id,
        kind=NodeKind.MEMORY,
        type=segment.type,
        content=segment.text,
        phrase=short_phrase(segment.phrase, segment.keywords, segment.text, segment.language),
        keywords=segment.keywords,
        language=segment.language,
        entity_key=None,
        worth=segment.worth,
        seqs=(*segment.quoted, *segment.seqs),
        session_id=segment.session_id,
        user_id=segment.user_id,
        said_at=segment.said_at,
        tier=segment.tier,
        expires_at=segment.expires_at,
        pinned=segment.pinned,
        segment=index,
    )


MAX_DRAWN = 64


def draw(candidates: Sequence[int], random: Random) -> list[int]:
    """Draw at most 64 nodes; the least important of them gives up its slot (M19)."""
    return random.sample(candidates, min(MAX_DRAWN, len(candidates)))


def least_important(draws: Iterable[Iterable[int]], importances: Mapping[int, float]) -> set[int]:
    """Return a distinct victim of each draw: the least important, the oldest of several.

    A draw whose nodes are all victims of earlier draws has none.
    """
    victims: set[int] = set()
    for drawn in draws:
        left = [node for node in drawn if node not in victims]
        if left:
            victims.add(min(left, key=lambda node: (importances[node], node)))
    return victims
