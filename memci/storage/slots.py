"""Finding a slot for each new node, at the cost of the least important (M19)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from sqlalchemy import Connection

from memci.domain.memory.link import importance
from memci.domain.memory.scan import Forgetting
from memci.domain.memory.slots import draw, least_important
from memci.storage.links import supports_of
from memci.storage.nodes import eviction_candidates, forget_nodes, free_slots


@dataclass(frozen=True, slots=True)
class SlotNeed:
    """How many slots are wanted, of how many in all (0: unbounded), and who must not pay."""

    wanted: int
    capacity: int
    spared: Collection[int]


def take_slots(
    connection: Connection, agent_id: str, need: SlotNeed, pass_number: int, random: Random
) -> list[int]:
    """Return slots for as many new nodes as are wanted, or as can be had.

    Nodes give up their slots when none is free; focus points and spared nodes never do. A
    network that is over a capacity set lower later shrinks by forgetting alone.
    """
    slots = free_slots(connection, agent_id, need.wanted, need.capacity)
    missing = need.wanted - len(slots)
    if not missing:
        return slots
    candidates = eviction_candidates(connection, agent_id, need.spared)
    victims: set[int] = set()
    while candidates and len(victims) < missing:
        lots = [draw(candidates, random) for _ in range(missing - len(victims))]
        drawn = {node for lot in lots for node in lot}
        supports = supports_of(connection, agent_id, drawn)
        importances = {node: importance(supports.get(node, {}).values()) for node in drawn}
        victims |= least_important(lots, importances)
        candidates = [node for node in candidates if node not in victims]
    reasons = dict.fromkeys(victims, Forgetting.SLOT_TAKEN)
    return slots + forget_nodes(connection, agent_id, reasons, pass_number)
