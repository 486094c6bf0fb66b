"""Comparison of two editions of a network."""

from __future__ import annotations

from memci.domain.memory.network_edition import ComparedNetwork, ComparedNode, compare


def memory(
    id_: int, *seqs: int, length: int = 9, text: str = "x", weight: float = 1
) -> ComparedNode:
    return ComparedNode(id_, None, seqs, 10, length, text, weight)


def entity(id_: int, key: str) -> ComparedNode:
    return ComparedNode(id_, key, (1,), 5, 5, key, 1.0)


def test_nodes_are_matched_by_their_messages_and_keys() -> None:
    current = ComparedNetwork([entity(1, "grace"), memory(2, 1), memory(3, 2)], {})
    rebuilt = ComparedNetwork([entity(11, "grace"), memory(12, 1), memory(14, 4)], {})
    found = compare(current, rebuilt)
    assert [(pair.current.id, pair.rebuilt.id) for pair in found.pairs] == [(2, 12)]
    assert [node.id for node in found.only_current] == [3]
    assert [node.id for node in found.only_rebuilt] == [14]
    assert found.changed == []


def test_several_nodes_of_one_message_are_matched_by_their_order() -> None:
    current = ComparedNetwork([memory(1, 1, text="a"), memory(2, 1, text="b")], {})
    rebuilt = ComparedNetwork([memory(5, 1, text="a"), memory(9, 1, text="c")], {})
    (changed,) = compare(current, rebuilt).changed
    assert (changed.current.id, changed.rebuilt.id) == (2, 9)


def test_links_are_matched_by_their_ends() -> None:
    nodes = [entity(1, "grace"), memory(2, 1), memory(3, 2)]
    others = [entity(11, "grace"), memory(12, 1)]
    current = ComparedNetwork(nodes, {(1, 2): 0.5, (2, 1): 1.0, (2, 3): 0.25})
    rebuilt = ComparedNetwork(others, {(11, 12): 0.75, (12, 12): 0.1})
    found = compare(current, rebuilt)
    assert (found.same_links, found.links_only_current, found.links_only_rebuilt) == (1, 2, 1)
    assert found.largest_strength_difference == 0.25


def test_unmatched_nodes_are_ordered_by_importance() -> None:
    nodes = [memory(1, 1, weight=0.5), memory(2, 2, weight=2.0), memory(3, 3, weight=0.5)]
    found = compare(ComparedNetwork(nodes, {}), ComparedNetwork([], {}))
    assert [node.id for node in found.only_current] == [2, 1, 3]
    assert found.largest_importance_difference == 0
