"""Fixed slots: what a full network gives up for a new memory (M19)."""

from __future__ import annotations

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
    gone = seen - {node.id for node in ada.nodes()}
    assert all(ada.trail(node) == ["created", "forgotten"] for node in gone)
    linked_from = {source for source, _ in ada.links()}
    assert linked_from <= {node.id for node in ada.nodes()}


def test_the_least_important_gives_up_its_slot(ada: AgentUnderTest) -> None:
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


def test_a_message_for_which_there_is_no_slot_says_so(ada: AgentUnderTest) -> None:
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
