"""Mentioned entities enter the focus (M5, M10)."""

from __future__ import annotations

import pytest

from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding


def test_a_new_entity_gets_a_node_and_is_the_newest_focus_point(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]")
    assert rebuilding.mention("  Marie   Curie ") == ["Marie Curie", "Grace"]
    node = ada.nodes("entity")[-1]
    assert (node.content, node.entity_key, node.language) == ("Marie Curie", "marie curie", "en")
    assert ada.trail(node.id) == ["created"]
    assert node.id not in {source for source, _ in ada.links()}
    ada.remember("B without a name")
    assert (ada.memories()["B"].id, node.id) in ada.links()


def test_a_known_entity_becomes_the_newest_and_its_links_get_strength_one(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = MemoryParameters(focus_limit=1, decay_rate=0.5)
    ada.remember("A [Grace]", session="one")
    ada.remember("B [Oslo]", session="two")
    ada.compress(1)
    grace = next(node.id for node in ada.nodes("entity") if node.content == "Grace")
    before = [link.strength for pair, link in ada.links().items() if grace in pair]
    assert max(before) == 0.5
    assert rebuilding.mention("GRACE") == ["Grace"]
    after = [link.strength for pair, link in ada.links().items() if grace in pair]
    assert after == [1.0] * len(before)
    assert len(ada.nodes("entity")) == 2


def test_a_mention_that_cannot_enter_is_refused_with_a_reason(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    with pytest.raises(NotFoundError, match="no agent"):
        rebuilding.mention("Grace")
    ada.remember("A [Grace]")
    for name in ("她", "it", "   "):
        with pytest.raises(InvalidInputError, match="name of a thing"):
            rebuilding.mention(name)
    ada.parameters = MemoryParameters(focus_limit=0)
    with pytest.raises(ConflictError, match="focus_limit is 0"):
        rebuilding.mention("Grace")
    ada.parameters = MemoryParameters(node_capacity=1, focus_limit=2)
    ada.execute("DELETE FROM node WHERE agent_id = %s AND kind = 'memory'")
    with pytest.raises(ConflictError, match="raise node_capacity"):
        rebuilding.mention("Oslo")
    assert ada.focus() == ["Grace"]


def test_a_mention_wakes_no_worker(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    rebuilding.mention("Oslo")
    assert ada.lane().wake_at is None
