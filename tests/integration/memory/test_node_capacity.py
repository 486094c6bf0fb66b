"""Fixed slots: which node a full network forgets for a new memory (M19)."""

from __future__ import annotations

import pytest

from memci.domain.memory.parameters import MemoryParameters
from tests.support.network import AgentUnderTest


def test_capacity_is_never_exceeded_and_ids_never_come_back(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=12, focus_limit=3)
    seen: set[int] = set()
    for day in range(12):
        result = ada.remember(*(f"{day}-{n} talk with [P{day}{n}]" for n in range(2)))
        assert len(ada.nodes()) <= 12
        assert not seen & set(result["nodes"])
        seen |= set(result["nodes"])
        assert {node.slot for node in ada.nodes()} <= set(range(1, 13))
        assert len(ada.focus()) <= 3
        for name in ada.focus():
            assert name in {node.content for node in ada.nodes("entity")}
    assert len(ada.nodes()) == 12
    forgotten = seen - {node.id for node in ada.nodes()}
    assert all(ada.trail(node) == ["created", "forgotten"] for node in forgotten)
    linked_from = {source for source, _ in ada.links()}
    assert linked_from <= {node.id for node in ada.nodes()}


def test_the_least_important_memory_gives_up_its_slot(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=5, focus_limit=1, related_links=0)
    ada.remember("A [Grace]", session="one")
    ada.remember("B [Grace]", session="two")
    ada.remember("C [Grace]", session="three")
    b = ada.memories()["B"]
    ada.execute("UPDATE link SET strength = 0.1 WHERE agent_id = %s AND source = %s", b.id)
    ada.remember("D [Grace]", session="four")
    ada.remember("E [Grace]", session="five")
    assert set(ada.memories()) == {"A", "C", "D", "E"}
    assert ada.memories()["E"].slot == b.slot


def test_a_message_without_a_slot_stores_the_reason(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=2)
    ada.remember("A [Grace]", "B [Grace]")
    assert len(ada.nodes()) == 2
    reasons = ada.rows("SELECT memory_reason FROM message WHERE agent_id = %s ORDER BY seq")
    assert [row.memory_reason for row in reasons] == [None, "capacity"]


def test_free_slots_are_filled_before_anything_is_forgotten(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=4, focus_limit=1)
    ada.remember("A [Grace]", "B [Grace]", "C [Grace]")
    ada.execute("DELETE FROM node WHERE agent_id = %s AND slot = 2")
    ada.remember("D [Grace]")
    assert ada.memories()["D"].slot == 2
    assert set(ada.memories()) == {"B", "C", "D"}


def test_an_unbounded_network_grows(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=0)
    ada.remember(*(f"{n} [P{n}]" for n in range(20)))
    assert len(ada.nodes()) == 40


def filtered(ada: AgentUnderTest) -> list[str]:
    rows = ada.rows("SELECT memory_reason FROM message WHERE agent_id = %s ORDER BY seq")
    return [row.memory_reason for row in rows if row.memory_reason]


@pytest.mark.parametrize(
    ("capacity", "focus_limit", "at_once"),
    [(3, 1, 1), (4, 1, 1), (4, 2, 1), (10, 2, 4), (60, 5, 30)],
)
def test_a_full_network_has_room_for_every_new_memory(
    ada: AgentUnderTest, capacity: int, focus_limit: int, at_once: int
) -> None:
    """Also when only its previous and related memories can be forgotten."""
    ada.parameters = MemoryParameters(node_capacity=capacity, focus_limit=focus_limit)
    for day in range(5):
        numbers = range(day * at_once, (day + 1) * at_once)
        result = ada.remember(*(f"talk {n} about it [P{n % 7}]" for n in numbers))
        assert result["memories"] == at_once
        assert len(ada.nodes()) <= capacity
        living = {node.id for node in ada.nodes()}
        made = set(result["nodes"])
        assert made <= living
        assert {target for source, target in ada.links() if source in made} <= living
    assert filtered(ada) == []


def test_memories_linked_to_a_new_one_are_forgotten_last(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=3, focus_limit=1, related_links=0)
    ada.remember("A [Grace]", session="one")
    ada.remember("B [Grace]", session="two")
    b = ada.memories()["B"].id
    ada.execute("UPDATE link SET strength = 0.1 WHERE agent_id = %s AND source = %s", b)
    ada.remember("C [Grace]", session="two")
    assert set(ada.memories()) == {"B", "C"}  # B is less important, but C follows it
    c = ada.memories()["C"].id
    assert ada.links()[c, b].strength == ada.parameters.link_initial_strength


def test_a_new_memory_has_no_link_to_the_one_it_replaced(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=2, focus_limit=1)
    (grace, a) = ada.remember("A [Grace]")["nodes"]
    (b,) = ada.remember("B [Grace]")["nodes"]
    assert ada.trail(a) == ["created", "forgotten"]
    new = {ends for ends in ada.links() if b in ends}
    assert new == {(grace, b), (b, grace)}


def test_an_entity_that_new_messages_name_is_not_forgotten(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(node_capacity=5, focus_limit=1, related_links=0)
    luigi, _ = ada.remember("A [Luigi]", session="one")["nodes"]
    ada.remember("B [Grace]", session="two")
    ada.execute("DELETE FROM link WHERE agent_id = %s AND source = %s", luigi)
    ada.remember("C [Oslo]", "D [Luigi]", session="three")
    assert ada.trail(luigi) == ["created"]
    assert set(ada.memories()) == {"C", "D"}
