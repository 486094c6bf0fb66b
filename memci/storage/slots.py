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
    """How many slots are wanted, of how many in all (0: unbounded), and who must not pay.

    ``kept`` never give up their slots, ``spared`` only when nobody else is left.
    """

    wanted: int
    capacity: int
    kept: Collection[int] = ()
    spared: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """Slots for new nodes, and whether spared nodes had to give up some of them."""

    slots: list[int]
    of_spared: bool = False


def take_slots(
    connection: Connection, agent_id: str, need: SlotNeed, pass_number: int, random: Random
) -> Taken:
    """Return slots for as many new nodes as are wanted, or as can be had.

    Nodes give up their slots when none is free; focus points and kept nodes never do. A
    network that is over a capacity set lower later shrinks by forgetting alone.
    """
    slots = free_slots(connection, agent_id, need.wanted, need.capacity)
    missing = need.wanted - len(slots)
    if not missing:
        return Taken(slots)
    candidates = eviction_candidates(connection, agent_id, need.kept)
    spared = [node for node in candidates if node in need.spared]
    others = [node for node in candidates if node not in need.spared]
    victims = _drawn(connection, agent_id, others, missing, random)
    of_spared = _drawn(connection, agent_id, spared, missing - len(victims), random)
    reasons = dict.fromkeys(victims | of_spared, Forgetting.SLOT_TAKEN)
    slots += forget_nodes(connection, agent_id, reasons, pass_number)
    return Taken(slots, bool(of_spared))


def _drawn(
    connection: Connection, agent_id: str, candidates: list[int], count: int, random: Random
) -> set[int]:
    """Return so many of the candidates, or all: each the least important of those drawn."""
    victims: set[int] = set()
    while candidates and len(victims) < count:
        lots = [draw(candidates, random) for _ in range(count - len(victims))]
        drawn = {node for lot in lots for node in lot}
        supports = supports_of(connection, agent_id, drawn)
        importances = {node: importance(supports.get(node, {}).values()) for node in drawn}
        victims |= least_important(lots, importances)
        candidates = [node for node in candidates if node not in victims]
    return victims
