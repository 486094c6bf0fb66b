"""Plans what a creation job adds to a network: nodes, links, focus, slots (M5 to M10, M19).

The plan is made twice: before the model calls that name relations, to know which names are
needed (``attend``), and under the lane's lock, on what then holds (``plan_creation``). Ids are
given out here, so a plan is ready to be written as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import TypeAlias

from memci.domain.memory.node import LOCKED, Link, NodeKind, NodeTier, NodeType, relation_names
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import Passage
from memci.language.detection import Language
from memci.language.names import Entity


@dataclass(frozen=True, slots=True)
class Likeness:
    """Cosines of the segments of one job; only the best of each need be there.

    ``older[i]`` maps nodes from before the job to their cosine with segment i; ``within[i]`` maps
    segments j < i of the job to theirs.
    """

    older: Sequence[Mapping[int, float]]
    within: Sequence[Mapping[int, float]]

    def relatives(
        self, index: int, made: Mapping[int, int], parameters: MemoryParameters
    ) -> list[int]:
        """Return the nodes more similar to segment ``index`` than the threshold, best first.

        ``made`` maps earlier segments of the job to their nodes.
        """
        cosines = dict(self.older[index])
        cosines |= {made[j]: cosine for j, cosine in self.within[index].items() if j in made}
        similar = [node for node in cosines if cosines[node] > parameters.related_threshold]
        return sorted(similar, key=lambda node: (-cosines[node], node))


Focus: TypeAlias = tuple[Entity, ...]


def mention(focus: Focus, entities: Sequence[Entity], limit: int) -> Focus:
    """Return the list after ``entities`` (best first) were mentioned together.

    The best becomes the newest; the least recently mentioned give way when there are more than
    ``limit``. Of more entities than ``limit``, the best are taken.
    """
    mentioned = list(dict.fromkeys(entities))[:limit]
    kept = [each for each in focus if each not in mentioned]
    return tuple((kept + mentioned[::-1])[-limit:]) if limit else ()


@dataclass(frozen=True, slots=True)
class AnnotatedSegment:
    """A topic segment and what it is about: all that a memory node is made of (M3, M4).

    ``text`` is worded so that it can be read alone (R4). ``keywords`` and ``entities`` are ordered
    best first. ``said_at`` has the speaker's offset. ``quoted`` are messages before ``seqs`` that
    the text quotes.
    """

    text: str
    seqs: tuple[int, ...]
    language: Language
    phrase: str
    keywords: tuple[str, ...]
    entities: tuple[Entity, ...]
    type: NodeType
    session_id: str | None
    user_id: str | None
    said_at: datetime
    worth: float = 0.0  # 0 to 10, the judge's (R3)
    tier: NodeTier = NodeTier.LONG
    expires_at: datetime | None = None  # aware UTC; only of the short tier
    quoted: tuple[int, ...] = ()
    passages: tuple[Passage, ...] = ()  # what of the messages it was made of
    restored: bool = False  # nobody says it now: it is made of what was said long ago (M24)


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node to be written; ``segment`` is the index of what it was made of, for a memory."""

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
    segment: int | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """The part of a network that a creation builds on.

    ``entities`` are the living nodes of entities, by key; those of the focus are among them.
    ``phrases`` are the living memory nodes that may be linked to. ``previous`` is the last memory
    of each session (None: of messages without one). ``room`` is how many nodes may be added.
    """

    focus: Focus
    entities: Mapping[str, int]
    phrases: Mapping[int, str]
    previous: Mapping[str | None, int]
    last_node_id: int
    room: int


@dataclass(frozen=True, slots=True)
class Creation:
    """What to write. ``focus``: node ids, least recently mentioned first.

    ``entered`` are the older nodes that entered the focus on the way: their links become 1.0.
    """

    nodes: tuple[NewNode, ...]
    links: tuple[Link, ...]
    focus: tuple[int, ...]
    entered: frozenset[int]


def attend(focus: Focus, segment: AnnotatedSegment, limit: int) -> Focus:
    """Return the focus list after a segment (M5).

    A segment that names nothing leaves it as it is, unless it is empty: then the segment's phrase
    becomes the first focus point, since a memory without any link would be forgotten at once.
    What is restored finds today's focus, and takes no more of it than is free (M24).
    """
    nothing_to_link_to = not segment.entities and not focus
    mentioned = (stand_in(segment),) if nothing_to_link_to else segment.entities
    return (_beside if segment.restored else mention)(focus, mentioned, limit)


def _beside(focus: Focus, entities: Sequence[Entity], limit: int) -> Focus:
    """Return the list with entities behind all that is talked about, as far as there is room."""
    new = [each for each in dict.fromkeys(entities) if each not in focus]
    room = max(0, limit - len(focus))
    return (*new[:room][::-1], *focus)[-limit:] if limit else ()


def joined_with(focus: Focus, segment: AnnotatedSegment) -> Focus:
    """Return what a segment's memory is joined with (M6): the focus after it.

    What is restored is joined with its own key entities as well, in the focus or not: by them it
    is found when they are talked about again.
    """
    own = segment.entities if segment.restored else ()
    return tuple(dict.fromkeys((*focus, *own)))


def stand_in(segment: AnnotatedSegment) -> Entity:
    """Return what stands for an entity when a segment names none."""
    return Entity.named(segment.phrase or segment.text.strip()[:64])


def plan_creation(
    segments: Sequence[AnnotatedSegment],
    ground: Ground,
    relations: Sequence[Mapping[str, str]],
    likeness: Likeness,
    parameters: MemoryParameters,
) -> Creation:
    """Plan the nodes, links and focus changes of segments, taken in order (M5 to M9).

    ``relations``, one mapping for each segment, are the names that the small model gave, by the
    focus point's key (M6). When the room is used up, what is left makes no node.
    """
    plan = _Plan(ground, parameters)
    for index, segment in enumerate(segments):
        plan.attend(segment)
        if plan.room:
            plan.remember(index, segment, relations[index], likeness)
    return plan.finished()


def plan_mention(
    entity: Entity, ground: Ground, language: Language, parameters: MemoryParameters
) -> Creation:
    """Plan what changes when an entity is brought into the focus by itself (M5, M10)."""
    plan = _Plan(ground, parameters)
    plan.turn_to(mention(ground.focus, (entity,), parameters.focus_limit), language, ())
    return plan.finished()


@dataclass
class _Plan:
    ground: Ground
    parameters: MemoryParameters
    nodes: list[NewNode] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    entered: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.focus = self.ground.focus
        self.entities = dict(self.ground.entities)
        self.phrases = dict(self.ground.phrases)
        self.previous = dict(self.ground.previous)
        self.made: dict[int, int] = {}  # memory nodes by the index of their segment

    @property
    def room(self) -> int:
        return self.ground.room - len(self.nodes)

    @property
    def next_id(self) -> int:
        return self.ground.last_node_id + len(self.nodes) + 1

    def finished(self) -> Creation:
        return Creation(
            nodes=tuple(self.nodes),
            links=tuple(self.links),
            focus=tuple(self.entities[each.key] for each in self.focus),
            entered=frozenset(self.entered),
        )

    def attend(self, segment: AnnotatedSegment) -> None:
        """Bring the segment's entities into the focus; new ones get a node (M5, M10)."""
        attended = attend(self.focus, segment, self.parameters.focus_limit)
        self.turn_to(attended, segment.language, segment.seqs)
        for entity in joined_with((), segment):
            if entity.key not in self.entities and self.room > 1:  # one is the memory's
                self._add_entity(entity, segment.language, segment.seqs)

    def turn_to(self, attended: Focus, language: Language, seqs: tuple[int, ...]) -> None:
        """Make this the focus, as far as there is room for new entities' nodes."""
        for entity in attended:
            if entity.key not in self.entities and self.room:
                self._add_entity(entity, language, seqs)
            elif entity.key in self.ground.entities and entity not in self.focus:
                self.entered.add(self.entities[entity.key])
        self.focus = tuple(each for each in attended if each.key in self.entities)

    def remember(
        self,
        index: int,
        segment: AnnotatedSegment,
        relations: Mapping[str, str],
        likeness: Likeness,
    ) -> None:
        """Make the segment's memory node, and its links (M6, M7, M8)."""
        node = _memory(self.next_id, index, segment)
        self.nodes.append(node)
        names = relation_names(segment.language)
        points = joined_with(self.focus, segment)
        for entity in (each for each in points if each.key in self.entities):
            relation = relations.get(entity.key, names.related)
            self._join(node, self.entities[entity.key], entity.name, (relation, relation), LOCKED)
        neighbour = self.previous.get(segment.session_id)
        ordinary = self.parameters.link_initial_strength
        if neighbour is not None and neighbour in self.phrases:
            both_names = (names.previous, names.next)
            self._join(node, neighbour, self.phrases[neighbour], both_names, ordinary)
        relatives = likeness.relatives(index, self.made, self.parameters)
        others = [each for each in relatives if each in self.phrases and each != neighbour]
        for relative in others[: self.parameters.related_links]:
            both_names = (names.related, names.related)
            self._join(node, relative, self.phrases[relative], both_names, ordinary)
        self.made[index] = node.id
        self.phrases[node.id] = node.phrase
        self.previous[segment.session_id] = node.id

    def _join(
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
        phrase=segment.phrase,
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
        segment=index,
    )


DRAWN = 64


def draw(candidates: Sequence[int], random: Random) -> list[int]:
    """Draw a lot of at most 64 nodes, of which the least important gives way."""
    return random.sample(candidates, min(DRAWN, len(candidates)))


def least_important(lots: Iterable[Iterable[int]], importances: Mapping[int, float]) -> set[int]:
    """Return one victim of each lot, none twice: the least important, the oldest of several.

    A lot whose nodes are all victims of earlier lots has none.
    """
    victims: set[int] = set()
    for lot in lots:
        left = [node for node in lot if node not in victims]
        if left:
            victims.add(min(left, key=lambda node: (importances[node], node)))
    return victims
