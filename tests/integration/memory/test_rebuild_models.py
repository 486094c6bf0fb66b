"""A rebuild uses the same passes and models, also where models fail or change (M24)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memci.domain.memory import creation
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import SmallModelUnavailableError
from memci.message import Message
from memci.smallmodel.ports import TopicSegment
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.vectors import VectorModel, change_model
from tests.support.models import BagOfWords, OneSegmentAMessage, ScriptedCompressor, is_down
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same

# A memory that leaves the focus is shortened in the second pass.
FADING = MemoryParameters(focus_limit=1, decay_rate=0.3, min_shrink=0)
LONG = "A long enough to be cut [Grace]"


def test_a_node_created_before_the_first_scan_of_a_pass_is_not_scanned_again(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = FADING
    ada.remember(LONG, session="one")
    ada.remember("B [Oslo]", session="two")
    ada.compress(1)

    def fails(text: str, target: int) -> str:
        raise ZeroDivisionError

    ada.models.compressor = ScriptedCompressor(script=[fails])
    ada.ask_for_pass()
    lease = ada.lease()
    with pytest.raises(ZeroDivisionError):
        ada.compression().step(lease, budget_ms=60_000)
    assert (ada.passes()[-1].number, ada.passes()[-1].scanned) == (2, 0)
    effect = ada.creation().prepare(ada.say("C [Luigi]", session="three"))
    with lease.effect() as connection:
        effect(connection)
    while ada.compression().step(lease, budget_ms=60_000):
        pass
    scans = [(node.scan_count, node.last_pass) for node in ada.nodes()]
    assert scans[-1] == (0, 2)
    assert is_same(rebuilding.rebuilt())
    assert [(n.scan_count, n.last_pass) for n in rebuilding.on_edition().nodes()] == scans


def test_a_rebuild_frees_the_same_slots(
    ada: AgentUnderTest, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(creation, "MAX_DRAWN", 2)
    ada.parameters = MemoryParameters(node_capacity=20, focus_limit=2)
    for day in range(15):
        ada.remember(*(f"{day}-{n} talk with [P{day}]" for n in range(3)))
    assert len(ada.nodes()) == 20
    assert is_same(rebuilding.rebuilt())


def test_models_get_the_same_vectors_again(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    seen: list[list[list[float]]] = []

    class Recording(OneSegmentAMessage):
        def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
            seen.append(vectors.tolist())
            return super().segment(messages, vectors)

    ada.models.segmenter = Recording()
    ada.remember("some seven words make uneven vectors here", "x " * 3_000)
    rebuilding.begin()
    rebuilding.run()
    assert seen[0] == seen[1]
    assert all(any(vector) for vector in seen[0])


def test_a_replayed_pass_waits_while_the_model_is_down(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = FADING
    ada.remember(LONG, session="one")
    ada.remember("B [Oslo]", session="two")
    ada.compress(2)
    ada.models.compressor = ScriptedCompressor(rest=is_down)
    rebuilding.begin()
    with pytest.raises(SmallModelUnavailableError):
        rebuilding.run()
    ada.models.compressor = ScriptedCompressor()
    rebuilding.run()
    assert is_same(rebuilding.compared())


def test_a_rebuilt_network_keeps_texts_that_the_model_failed_to_shorten(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """As in any pass, the last failed call is not retried and the pass goes on."""
    ada.parameters = replace(FADING, max_retries=3)
    ada.remember(LONG, session="one")
    ada.remember("B [Oslo]", session="two")
    ada.compress(2)
    assert LONG not in {node.content for node in ada.nodes()}
    ada.models.compressor = ScriptedCompressor(rest=is_down)
    rebuilding.begin()
    with pytest.raises(SmallModelUnavailableError):
        rebuilding.run()
    rebuilding.run()
    assert rebuilding.show().state == "ready"
    assert LONG in {node.content for node in rebuilding.on_edition().nodes()}


class OtherWords(BagOfWords):
    """Another model: other name, other dimension."""

    model = "other-words"
    dimension = 96


def change_embedder(ada: AgentUnderTest) -> None:
    ada.models.embedder = OtherWords()
    with ada.database.agent_transaction(ada.agent_id) as connection:
        change_model(connection, VectorModel(OtherWords.model, OtherWords.dimension))


def models_of_memories(ada: AgentUnderTest) -> set[tuple[str, int]]:
    query = "SELECT model, vector_dims(embedding) FROM node_vector WHERE agent_id = %s"
    return {tuple(row) for row in ada.rows(query)}


def test_vectors_of_another_embedder_are_computed_again_before_a_switch(
    ada: AgentUnderTest, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memci.jobs.rebuild.REEMBEDDED", 2)
    ada.remember(*(f"{name} [Grace]" for name in "ABCDE"))
    rebuilding.begin()
    rebuilding.run()
    change_embedder(ada)
    rebuilding.switch()
    rebuilding.run()
    assert rebuilding.show().state == "switched"
    assert models_of_memories(ada) == {("other-words", 96)}
    assert len(ada.memories()) == 5


def test_the_embedder_can_change_during_a_rebuild(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """New memories are compared with all memories that were replayed before."""
    ada.parameters = MemoryParameters(related_threshold=0.3)
    for number in range(4):
        ada.remember(f"some words of number {number} [P{number}]", session=f"s{number}")
    rebuilding.begin()
    for _ in range(2):
        rebuilding.step()
    assert models_of_memories(rebuilding.on_edition()) == {("bag-of-words", 64)}
    change_embedder(ada)
    rebuilding.run()
    assert rebuilding.show().state == "ready"
    assert models_of_memories(rebuilding.on_edition()) == {("other-words", 96)}
    links = rebuilding.on_edition().links()
    ids = [node.id for node in rebuilding.on_edition().nodes("memory")]
    related = {(one, other) for one, other in links if {one, other} <= set(ids)}
    assert {(ids[3], ids[1]), (ids[2], ids[1])} & related
