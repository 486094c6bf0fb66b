"""A simple model of restoring, consolidating and erasing (R5, M24, M25).

Like ``simple_network``, it uses no code of memci.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tests.support.simple_network import SimpleNetwork, spoken


class SimpleErasure(NamedTuple):
    """Numbers of removed nodes, and the messages to be remembered again."""

    memories: int
    entities: int
    forgotten: int
    again: list[int]


@dataclass
class SimpleHistory(SimpleNetwork):
    restored: set[int] = field(default_factory=set)
    merged: set[int] = field(default_factory=set)
    erased: set[int] = field(default_factory=set)

    # Restoring

    def restorable(self) -> list[int]:
        """Return the forgotten memories that were not restored, with all their messages."""
        return [i for i in self.ever if self._may_be_restored(i)]

    def not_restorable(self) -> list[int]:
        return [i for i in self.ever if not self._may_be_restored(i)]

    def _may_be_restored(self, i: int) -> bool:
        was = self.ever[i]
        repeated = any(n.seqs == was.seqs and not n.entity for n in self.nodes.values())
        stored = all(seq in self.messages for seq in was.seqs)
        succeeded = i in self.restored | self.merged | self.erased
        return stored and not (i in self.nodes or was.entity or succeeded or repeated)

    def restore(self, i: int) -> None:
        self.make([self.ever[i].parts], restored=True)
        if not self._may_be_restored(i):
            self.restored.add(i)  # otherwise there was no room for it

    # Consolidating

    def consolidate(self, *, terms_are_over: bool) -> None:
        groups: list[list[int]] = []
        for i in self.short():
            agreeing = [g for g in groups if all(self._say_the_same(i, other) for other in g)]
            if agreeing:
                agreeing[0].append(i)
            else:
                groups.append([i])
        for i in self.short():
            self.nodes[i].compared = True
        for group in groups:
            if len(group) > 1:
                self._merge(group)
        for i in self.short() if terms_are_over else []:
            self.nodes[i].short = False
            self.nodes[i].promoted = self.importance(i) >= 1

    def short(self) -> list[int]:
        return sorted(i for i, node in self.nodes.items() if node.short)

    def _say_the_same(self, i: int, other: int) -> bool:
        one, two = self.nodes[i], self.nodes[other]
        known = one.compared and two.compared
        return not known and one.session == two.session and spoken(one.text) == spoken(two.text)

    def _merge(self, group: Sequence[int]) -> None:
        """Replace a group by one memory with all links; of two links, the stronger stays."""
        parts = [self.nodes[i] for i in group]
        if not any(i in group and target not in group for i, target in self.links):
            return  # it would have no link
        new = self._add(
            replace(
                parts[0],
                born_length=max(each.born_length for each in parts),
                seqs=tuple(sorted({seq for each in parts for seq in each.seqs})),
                parts=tuple(seq for each in parts for seq in each.parts),
                scans=max(each.scans for each in parts),
            )
        )
        joined: dict[tuple[int, int], float] = {}
        for (source, target), strength in self.links.items():
            ends = new if source in group else source, new if target in group else target
            if ends != (new, new):
                joined[ends] = max(strength, joined.get(ends, 0.0))
        self.links = joined
        for i in group:
            del self.nodes[i]
        self.merged.update(group)

    # Erasing

    def erase(self, seqs: Collection[int]) -> SimpleErasure:
        """Remove messages and nodes made of them; the caller remembers the rest again."""
        memories = self._made_of(seqs)
        again = {seq for i in memories for seq in self.nodes[i].seqs} - set(seqs)
        entities = self._entities_of(seqs, memories)
        forgotten = [
            i
            for i, n in self.ever.items()
            if i not in self.nodes and not set(n.seqs).isdisjoint(seqs)
        ]
        self._name_by_others(seqs, memories, entities)
        for i in [*memories, *entities]:
            del self.nodes[i]
        removed = {*memories, *entities}
        self.erased.update(removed)
        self.links = {
            (source, target): strength
            for (source, target), strength in self.links.items()
            if source not in removed and target not in {*removed, *forgotten}
        }
        self.focus = [i for i in self.focus if i not in removed]
        for seq in seqs:
            del self.messages[seq]
        return SimpleErasure(len(memories), len(entities), len(forgotten), sorted(again))

    def _made_of(self, seqs: Collection[int]) -> set[int]:
        """Return the memories made of these messages, and those that share a message with one."""
        reached = set(seqs)
        while True:
            found = {
                i for i, n in self.nodes.items() if not n.entity and not reached.isdisjoint(n.seqs)
            }
            wider = reached.union(*(self.nodes[i].seqs for i in found))
            if wider == reached:
                return found
            reached = wider

    def _entities_of(self, seqs: Collection[int], memories: Collection[int]) -> list[int]:
        """Return the entities of these messages or at these memories that nothing else names."""
        return [
            i
            for i, node in self.nodes.items()
            if node.entity
            and node.seqs
            and (not set(seqs).isdisjoint(node.seqs) or self._linked(i) & set(memories))
            and not any(self._is_named(node.entity, by) for by in self._linked(i) - set(memories))
        ]

    def _name_by_others(
        self, seqs: Collection[int], memories: Collection[int], entities: Collection[int]
    ) -> None:
        """Give kept entities of these messages the newest other message that names them."""
        for i, node in self.nodes.items():
            if node.entity and i not in entities and not set(seqs).isdisjoint(node.seqs):
                others = [self.nodes[by] for by in self._linked(i) - set(memories)]
                known = {seq for by in others if not by.entity for seq in by.seqs}
                newest = max(seq for seq in known if self._says((seq,), node.entity))
                node.seqs = tuple(sorted({*node.seqs, newest} - set(seqs)))

    def _linked(self, i: int) -> set[int]:
        """Return the living nodes that are linked with a node in either direction."""
        return {each for link in self.links if i in link for each in link} & self.nodes.keys() - {i}

    def _is_named(self, entity: str, by: int) -> bool:
        return not self.nodes[by].entity and self._says(self.nodes[by].seqs, entity)

    def _says(self, seqs: Sequence[int], entity: str) -> bool:
        text = self.told(seqs)
        return entity in " ".join(text.casefold().split())
