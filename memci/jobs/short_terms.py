"""What an agent's lane notes of its short-term memories, so that upkeep asks in time (R5)."""

from __future__ import annotations

from memci.domain.memory.creation import Creation
from memci.domain.memory.node import NodeKind, NodeTier
from memci.domain.memory.parameters import MemoryParameters
from memci.queue.consolidation import ask_next
from memci.storage.session import Connection
from memci.storage.short_memories import next_end, young_memories
from memci.storage.short_terms import count_new, note_end, note_new

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
        ask_next(connection, agent_id)


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
        ask_next(connection, agent_id)
