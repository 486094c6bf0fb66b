"""Which short-term memories tell the same, and merging them (R5, M9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self
from uuid import UUID

from memci.domain.memory.consolidation import ALIKE_COSINE, Merge, ShortMemory, groups, merged
from memci.domain.memory.link import Link
from memci.jobs.short_terms import MOST_COMPARED
from memci.storage.merging import links_at, new_node_ids, write_merges
from memci.storage.origins import passages_of
from memci.storage.session import Connection
from memci.storage.short_memories import alike_pairs, short_memories, young_memories


@dataclass(frozen=True, slots=True)
class Alike:
    """Memories that were compared with all others, and groups of them that tell the same.

    ``left_out``: there are more groups, whose memories are to be compared once more.
    """

    compared: Sequence[int]
    groups: Sequence[tuple[int, ...]]
    memories: Mapping[int, ShortMemory]
    left_out: bool = False

    @classmethod
    def find(cls, connection: Connection, agent_id: str) -> Self:
        """Compare those that have not been compared yet; write nothing."""
        young = young_memories(connection, agent_id, MOST_COMPARED)
        pairs = alike_pairs(connection, agent_id, young, ALIKE_COSINE)
        memories = short_memories(connection, agent_id, {node for pair in pairs for node in pair})
        alike = [pair for pair in pairs if memories.keys() >= set(pair)]
        return cls(young, groups(memories, alike), memories)

    def first(self, most: int) -> Self:
        """Return it with at most so many groups."""
        left = {node for group in self.groups[most:] for node in group}
        compared = [node for node in self.compared if node not in left]
        return replace(self, compared=compared, groups=self.groups[:most], left_out=bool(left))

    def merge(
        self, connection: Connection, agent_id: str, job_id: UUID, pass_number: int
    ) -> list[Merge]:
        """Merge the groups of which all are still as they were; the lane must be locked.

        A memory without a link would be forgotten at once: what is linked among itself alone stays
        as it is.
        """
        nodes = [node for group in self.groups for node in group]
        now = short_memories(connection, agent_id, nodes)
        links = links_at(connection, agent_id, nodes) if now else []
        held = self._held(links)
        going = [
            group
            for group in self.groups
            if group in held and all(now.get(node) == self.memories[node] for node in group)
        ]
        merges = self._planned(connection, agent_id, going)
        write_merges(connection, agent_id, merges, links, pass_number, str(job_id))
        return merges

    def _held(self, links: Sequence[Link]) -> set[tuple[int, ...]]:
        """Return the groups of which a link leads to something else."""
        group_of = {node: group for group in self.groups for node in group}
        return {
            group_of[link.source]
            for link in links
            if link.source in group_of and link.target not in group_of[link.source]
        }

    def _planned(
        self, connection: Connection, agent_id: str, going: Sequence[tuple[int, ...]]
    ) -> list[Merge]:
        if not going:
            return []
        made_of = passages_of(connection, agent_id, [node for group in going for node in group])
        new_ids = new_node_ids(connection, agent_id, len(going))
        merges = []
        for group, new in zip(going, new_ids, strict=True):
            whole, teller = merged([self.memories[node] for node in group], new)
            passages = tuple(passage for node in group for passage in made_of[node])
            merges.append(Merge(whole, teller, group, passages))
        return merges
