"""Writes new memories into a network, and what they supersede (M5 to M10, R6, R20).

All in the fenced transaction of the job; the lane is locked.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from uuid import UUID

import numpy as np

from memci.domain.job import JobKind
from memci.domain.memory import creation as planning
from memci.domain.memory.creation import AnnotatedSegment, Creation, NetworkState, NewNode
from memci.domain.memory.node import NodeEvent, NodeKind, NodeTier
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import details_of, place_of
from memci.message import Message, corrected_memory
from memci.queue import mailbox
from memci.smallmodel.vector_space import Vectors, VectorSpace
from memci.storage.network import beliefs, edits, links, node_history, nodes, short_term_memories
from memci.storage.network.passes import position
from memci.storage.search.index import Embedded, index_nodes
from memci.storage.session import Connection

_UNBOUNDED = 2**62


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A segment that is to become a memory node."""

    segment: AnnotatedSegment
    vector: Vectors  # shape (d,)
    terms: Counter[str]
    relations: Mapping[str, str]  # names that the small model gave, by the focus point's key
    older: Mapping[int, float]  # likeness of the most similar nodes from before the job


@dataclass(frozen=True, slots=True)
class NetworkGrowth:
    """Adds new memories to one agent's network.

    The job's id seeds the draw of nodes that give up their slot: a replay draws the same (M24).
    """

    agent_id: str
    job_id: UUID
    parameters: MemoryParameters
    model: str
    space: VectorSpace

    def write(self, connection: Connection, memories: list[NewMemory]) -> Creation:
        """Plan the creation for the current network, write it, and return it."""
        state, pass_number = self._state(connection, memories)
        creation = self._plan(memories, state)
        # Linked entities keep their slots (M19); linked memories are forgotten last.
        linked = {end for link in creation.links for end in (link.source, link.target)}
        need = nodes.SlotNeed(
            wanted=len(creation.nodes),
            capacity=self.parameters.node_capacity,
            kept=linked.union(creation.focus).intersection(state.entities.values()),
            spared=linked.intersection(state.phrases),
        )
        random = Random(self.job_id.int)
        taken = nodes.take_slots(connection, self.agent_id, need, pass_number, random)
        if taken.of_spared:  # a linked memory was forgotten
            state, _ = self._state(connection, memories)
        if taken.of_spared or len(taken.slots) < need.wanted:
            creation = self._plan(memories, replace(state, room=len(taken.slots)))
        links.lock_links(connection, self.agent_id, creation.entered)
        nodes.add_nodes(connection, self.agent_id, creation.nodes, taken.slots, pass_number)
        links.add_links(connection, self.agent_id, creation.links)
        links.replace_focus(connection, self.agent_id, creation.focus)
        self._index(connection, memories, creation)
        origins = {
            node.id: {"job": str(self.job_id), **_origin(node, memories)} for node in creation.nodes
        }
        event = NodeEvent.CREATED
        node_history.append_history(connection, self.agent_id, event, pass_number, origins)
        return creation

    def _state(self, connection: Connection, memories: list[NewMemory]) -> tuple[NetworkState, int]:
        """Return the part of the network that the plan needs, and the number of the pass."""
        agent_id, segments = self.agent_id, [memory.segment for memory in memories]
        last_node_id, pass_number = position(connection, agent_id)
        focus = links.focus_of(connection, agent_id)
        previous = self._previous(connection, segments)
        linkable = {node for memory in memories for node in memory.older} | set(previous.values())
        keys = {entity.key for entity in focus}
        for segment in segments:
            keys.update(entity.key for entity in segment.entities)
            keys.add(planning.fallback_entity(segment).key)
        state = NetworkState(
            focus=focus,
            entities=nodes.entity_nodes(connection, agent_id, keys),
            phrases=nodes.phrases_of(connection, agent_id, linkable),
            previous=previous,
            last_node_id=last_node_id,
            room=_UNBOUNDED,
        )
        return state, pass_number

    def _previous(
        self, connection: Connection, segments: Collection[AnnotatedSegment]
    ) -> dict[str | None, int]:
        """Return the memory before the segments, by session (M7).

        A restored memory follows the one that was said right before it, not the last one.
        """
        sessions = {segment.session_id for segment in segments if not segment.restored}
        previous = nodes.last_memories(connection, self.agent_id, sessions)
        for segment in segments:
            if segment.restored:
                seq, start = place_of(segment.passages)
                found = nodes.memory_before(
                    connection, self.agent_id, segment.session_id, seq, start
                )
                if found is not None:
                    previous[segment.session_id] = found
        return previous

    def _plan(self, memories: list[NewMemory], state: NetworkState) -> Creation:
        vectors = np.array([memory.vector for memory in memories])
        within = []  # each segment's best likeness with earlier ones; row by row, to bound memory
        for index in range(len(memories)):
            cosines = vectors[:index] @ vectors[index]
            near = np.argsort(-cosines, kind="stable")[: self.parameters.related_links + 1]
            within.append({int(at): self.space.likeness(float(cosines[at])) for at in near})
        return planning.plan_creation(
            [memory.segment for memory in memories],
            state,
            [memory.relations for memory in memories],
            planning.Similarities([memory.older for memory in memories], within),
            self.parameters,
        )

    def _index(self, connection: Connection, memories: list[NewMemory], creation: Creation) -> None:
        made = {n.id: memories[n.segment] for n in creation.nodes if n.segment is not None}
        if made:
            vectors = np.array([memory.vector for memory in made.values()])
            terms = {node: memory.terms for node, memory in made.items()}
            embedded = Embedded(list(made), vectors, self.model)
            index_nodes(connection, self.agent_id, embedded, terms)


def _origin(node: NewNode, memories: list[NewMemory]) -> dict[str, Any]:
    """Return the messages and passages of a node, from which it can be restored."""
    if node.segment is None:
        return {"messages": node.seqs, "kind": node.kind}
    return {"messages": node.seqs, **details_of(memories[node.segment].segment.passages)}


def creation_counts(creation: Creation) -> dict[str, Any]:
    """Return the result of a creation in numbers and ids."""
    kinds = [node.kind for node in creation.nodes]
    return {
        "memories": kinds.count(NodeKind.MEMORY),
        "entities": kinds.count(NodeKind.ENTITY),
        "links": len(creation.links),
        "nodes": [node.id for node in creation.nodes],
    }


# New memories that one job compares with the others: a second's work where there are 10,000.
MAX_COMPARED = 500


def note_short_terms(
    connection: Connection, agent_id: str, parameters: MemoryParameters, *, left_out: bool = False
) -> None:
    """Note on the lane the end of the next short term, and the number of memories to compare (R5).

    Submits another consolidation if one could not compare all (``left_out``).
    """
    silence = parameters.session_silence
    end = short_term_memories.next_end(connection, agent_id, silence)
    short_term_memories.note_end(connection, agent_id, end)
    left = 0
    if parameters.simplemem_enabled:
        left = len(short_term_memories.young_memories(connection, agent_id, MAX_COMPARED))
    short_term_memories.count_new(connection, agent_id, left)
    if left and (left_out or left == MAX_COMPARED):
        mailbox.submit_once(connection, agent_id, JobKind.CONSOLIDATE)


def note_created(
    connection: Connection, agent_id: str, creation: Creation, parameters: MemoryParameters
) -> None:
    """Count the memories of a creation; submit consolidation when there are enough (R5)."""
    memories = [node for node in creation.nodes if node.kind is NodeKind.MEMORY]
    if not memories:
        return
    ends = (node.expires_at for node in memories if node.tier is NodeTier.SHORT)
    first = min((end for end in ends if end is not None), default=None)
    silence = parameters.session_silence
    new = short_term_memories.note_new(connection, agent_id, len(memories), first, silence=silence)
    if parameters.simplemem_enabled and new >= parameters.consolidation_interval:
        short_term_memories.count_new(connection, agent_id, 0)
        mailbox.submit_once(connection, agent_id, JobKind.CONSOLIDATE)


def supersede_corrected(
    connection: Connection, agent_id: str, messages: Sequence[Message], creation: Creation
) -> int:
    """Let notes that correct a memory supersede it; return how many were superseded.

    Memories that were forgotten or erased meanwhile are skipped.
    """
    by_seq = {message.seq: message for message in messages}
    first: dict[int, int] = {}  # the first memory that was made of each message
    for node in creation.nodes:
        if node.kind is NodeKind.MEMORY:
            for seq in node.seqs:
                first.setdefault(seq, node.id)
    edits.link_corrected(connection, agent_id, first)
    count = 0
    for seq, node_id in first.items():
        message = by_seq.get(seq)
        corrected = corrected_memory(message.metadata) if message and message.is_note else None
        if message is None or corrected is None:
            continue
        older = node_history.memory_telling(connection, agent_id, corrected.seqs, corrected.span)
        if older is not None and older != node_id:
            until = message.said_at
            superseded = beliefs.supersede(connection, agent_id, [older], by=node_id, until=until)
            count += len(superseded)
    return count
