"""Writes new memories into a network, in the fenced transaction of their job."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from uuid import UUID

import numpy as np

from memci.domain.job import JobKind
from memci.domain.memory.creation import (
    AnnotatedSegment,
    Creation,
    Ground,
    Likeness,
    NewNode,
    plan_creation,
    stand_in,
)
from memci.domain.memory.node import NodeEvent, NodeKind, NodeTier
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import details_of, place_of
from memci.language.names import Entity
from memci.queue import mailbox
from memci.smallmodel.ports import Vectors
from memci.storage.network.links import add_links, focus_of, lock_links, replace_focus
from memci.storage.network.node_history import append_history
from memci.storage.network.nodes import (
    SlotNeed,
    add_nodes,
    entity_nodes,
    last_memories,
    memory_before,
    phrases_of,
    take_slots,
)
from memci.storage.network.passes import position
from memci.storage.network.short_term import count_new, next_end, note_end, note_new, young_memories
from memci.storage.search_index import Embedded, Terms, index_nodes
from memci.storage.session import Connection

_UNBOUNDED = 2**62


@dataclass(frozen=True, slots=True)
class Thought:
    """A segment on its way into the network.

    ``relations``: names that the small model gave, by the focus point's key. ``older``: the most
    similar nodes from before the job, with their cosines.
    """

    segment: AnnotatedSegment
    vector: Vectors  # shape (d,)
    terms: Terms
    relations: Mapping[str, str]
    older: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Growth:
    """Adds thoughts to one agent's network.

    Who gives up a slot is drawn by the id of the job: done once more, it draws the same (M24).
    """

    agent_id: str
    job_id: UUID
    parameters: MemoryParameters
    model: str

    def write(self, connection: Connection, thoughts: list[Thought]) -> Creation:
        """Plan on what holds now, write the plan, and return it. The lane must be locked."""
        ground, pass_number = self._ground(connection, thoughts)
        creation = self._plan(thoughts, ground)
        need = self._need(creation, ground)
        lots = Random(self.job_id.int)
        taken = take_slots(connection, self.agent_id, need, pass_number, lots)
        slots = taken.slots
        if taken.of_spared:  # what was to be linked with has given way
            ground, _ = self._ground(connection, thoughts)
        if taken.of_spared or len(slots) < need.wanted:
            creation = self._plan(thoughts, replace(ground, room=len(slots)))
        lock_links(connection, self.agent_id, creation.entered)
        add_nodes(connection, self.agent_id, creation.nodes, slots, pass_number)
        add_links(connection, self.agent_id, creation.links)
        replace_focus(connection, self.agent_id, creation.focus)
        self._index(connection, thoughts, creation)
        origin = {"job": str(self.job_id)}
        trail = {node.id: {**origin, **_origin(node, thoughts)} for node in creation.nodes}
        append_history(connection, self.agent_id, NodeEvent.CREATED, pass_number, trail)
        return creation

    def _need(self, creation: Creation, ground: Ground) -> SlotNeed:
        """Return what a plan needs (M19): the entities that it is about must not pay for it.

        The memories that it links with pay only when nothing else is left.
        """
        linked = {end for link in creation.links for end in (link.source, link.target)}
        return SlotNeed(
            wanted=len(creation.nodes),
            capacity=self.parameters.node_capacity,
            kept=linked.union(creation.focus).intersection(ground.entities.values()),
            spared=linked.intersection(ground.phrases),
        )

    def _ground(self, connection: Connection, thoughts: list[Thought]) -> tuple[Ground, int]:
        last_node_id, pass_number = position(connection, self.agent_id)
        focus = focus_of(connection, self.agent_id)
        segments = [thought.segment for thought in thoughts]
        previous = self._previous(connection, segments)
        older = {node for thought in thoughts for node in thought.older}
        ground = Ground(
            focus=focus,
            entities=entity_nodes(connection, self.agent_id, _keys(segments, focus)),
            phrases=phrases_of(connection, self.agent_id, older | set(previous.values())),
            previous=previous,
            last_node_id=last_node_id,
            room=_UNBOUNDED,
        )
        return ground, pass_number

    def _previous(
        self, connection: Connection, segments: Collection[AnnotatedSegment]
    ) -> dict[str | None, int]:
        """Return what comes before the segments, by session (M7).

        What is restored goes on to what was said right before it, not to what was said last.
        """
        sessions = {segment.session_id for segment in segments if not segment.restored}
        previous = last_memories(connection, self.agent_id, sessions)
        for segment in segments:
            if segment.restored:
                place = place_of(segment.passages)
                found = memory_before(connection, self.agent_id, segment.session_id, *place)
                if found is not None:
                    previous[segment.session_id] = found
        return previous

    def _plan(self, thoughts: list[Thought], ground: Ground) -> Creation:
        return plan_creation(
            [thought.segment for thought in thoughts],
            ground,
            [thought.relations for thought in thoughts],
            Likeness([thought.older for thought in thoughts], self._within(thoughts)),
            self.parameters,
        )

    def _within(self, thoughts: list[Thought]) -> list[dict[int, float]]:
        """Return each segment's best cosines with earlier ones; row by row, to bound memory."""
        vectors = np.array([thought.vector for thought in thoughts])
        best = []
        for place in range(len(thoughts)):
            cosines = vectors[:place] @ vectors[place]
            near = np.argsort(-cosines, kind="stable")[: self.parameters.related_links + 1]
            best.append({int(earlier): float(cosines[earlier]) for earlier in near})
        return best

    def _index(self, connection: Connection, thoughts: list[Thought], creation: Creation) -> None:
        made = {n.id: thoughts[n.segment] for n in creation.nodes if n.segment is not None}
        if made:
            vectors = np.array([thought.vector for thought in made.values()])
            embedded = Embedded(list(made), vectors, self.model)
            terms = {node: thought.terms for node, thought in made.items()}
            index_nodes(connection, self.agent_id, embedded, terms)


def numbers_of(creation: Creation) -> dict[str, Any]:
    """Return what a creation did, in numbers and ids."""
    kinds = [node.kind for node in creation.nodes]
    return {
        "memories": kinds.count(NodeKind.MEMORY),
        "entities": kinds.count(NodeKind.ENTITY),
        "links": len(creation.links),
        "nodes": [node.id for node in creation.nodes],
    }


def _origin(node: NewNode, thoughts: list[Thought]) -> dict[str, Any]:
    """Return what the trail keeps of where a node comes from, so that it can be restored."""
    if node.segment is None:
        return {"messages": node.seqs, "kind": node.kind}
    made_of = thoughts[node.segment].segment.passages
    return {"messages": node.seqs, **details_of(made_of)}


def _keys(segments: Collection[AnnotatedSegment], focus: Collection[Entity]) -> set[str]:
    """Return the keys of all entities that the plan may speak of."""
    keys = {entity.key for entity in focus}
    for segment in segments:
        keys.update(entity.key for entity in segment.entities)
        keys.add(stand_in(segment).key)
    return keys


# New memories that one job compares with the others: a second's work where there are 10,000.
MOST_COMPARED = 500


def note_short_terms(
    connection: Connection, agent_id: str, parameters: MemoryParameters, *, left_out: bool = False
) -> None:
    """Note on the lane when the next short term ends, and how many memories are to be compared.

    There is another job for those of which there were too many (``left_out``) for one.

    Whatever becomes of its memories at once, upkeep finds by it those whose terms are over (R5).
    """
    silence = parameters.session_silence
    note_end(connection, agent_id, next_end(connection, agent_id, silence))
    left = 0
    if parameters.simplemem_enabled:
        left = len(young_memories(connection, agent_id, MOST_COMPARED))
    count_new(connection, agent_id, left)
    if left and (left_out or left == MOST_COMPARED):
        mailbox.submit_once(connection, agent_id, JobKind.CONSOLIDATE)


def note_created(
    connection: Connection, agent_id: str, creation: Creation, parameters: MemoryParameters
) -> None:
    """Count the memories of a creation, and ask for consolidation when there are enough (R5).

    Part of the creation's effect: by it upkeep finds short terms that are over.
    """
    memories = [node for node in creation.nodes if node.kind is NodeKind.MEMORY]
    if not memories:
        return
    ends = (node.expires_at for node in memories if node.tier is NodeTier.SHORT)
    first = min((end for end in ends if end is not None), default=None)
    silence = parameters.session_silence
    new = note_new(connection, agent_id, len(memories), first, silence=silence)
    if parameters.simplemem_enabled and new >= parameters.consolidation_interval:
        count_new(connection, agent_id, 0)
        mailbox.submit_once(connection, agent_id, JobKind.CONSOLIDATE)
