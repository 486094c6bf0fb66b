"""Compare a rebuilt network with the current one: numbers, lists and recalls (M24)."""

from __future__ import annotations

import pytest

from memci.domain.memory.parameters import MemoryParameters
from memci.errors import NotFoundError
from memci.reading.comparison import Compare
from memci.reading.reader import ReadingDefaults, ReadingModels, Tokenizers
from memci.schemas.network_editions import ComparisonAnswer, ComparisonRequest
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.session import Database
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database)


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    return Rebuilding(ada)


def compare(ada: AgentUnderTest, *probes: tuple[str, ...], limit: int = 20) -> ComparisonAnswer:
    tokenizers = Tokenizers(OfflineTokenCounter)
    models = ReadingModels(ada.models.embedder, ada.models.lexicon, tokenizers, OfflineSummarizer())
    reading = Compare(ada.database, models, ReadingDefaults())
    return reading.run(ada.agent_id, ComparisonRequest(probes=probes, limit=limit))


def test_a_comparison_needs_a_rebuilt_network(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    with pytest.raises(NotFoundError, match="begin a rebuild"):
        compare(ada)
    rebuilding.begin()
    rebuilding.drop()
    with pytest.raises(NotFoundError, match="begin a rebuild"):
        compare(ada)


def test_with_the_same_models_and_parameters_nothing_differs(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A talk with [Grace]", "B [Luigi]")
    ada.compress(2)
    rebuilding.begin()
    rebuilding.run()
    found = compare(ada, ("grace",), ())
    assert found.current == found.rebuilt
    assert found.edition.state == "ready"
    assert (found.current.memories, found.current.entities, found.current.focus) == (
        2, 2, ["Luigi", "Grace"],
    )  # fmt: skip
    assert (found.same_memories, found.same_texts) == (2, 2)
    assert found.same_links == found.current.links - found.current.dangling
    assert found.same_links
    assert found.largest_strength_difference == 0
    assert not (found.changed)
    assert not (found.shown_only_current)
    assert not (found.shown_only_rebuilt)
    assert [(each.both, each.only_current, each.only_rebuilt) for each in found.probes] == [
        (1, [], []), (2, [], []),
    ]  # fmt: skip


def test_other_parameters_give_another_network(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    """Slower and faster forgetting leave other texts, links and memories."""
    ada.parameters = MemoryParameters(focus_limit=1, decay_rate=0.3, min_shrink=0)
    ada.remember("A talk with [Grace] about the sea", session="one")
    ada.remember("B a short one [Oslo]", session="two")
    ada.compress(2)
    (short,) = [node.content for node in ada.nodes("memory") if node.content.startswith("A")]
    ada.parameters = MemoryParameters(focus_limit=1, decay_rate=0.95)
    rebuilding.begin()
    rebuilding.run()
    found = compare(ada)
    (changed,) = found.changed
    assert changed.current.text == short
    assert changed.rebuilt.text == "A talk with [Grace] about the sea"
    assert changed.current.length < changed.rebuilt.length == changed.rebuilt.original_length
    assert changed.current.message_seqs == changed.rebuilt.message_seqs == [1]
    assert found.largest_strength_difference == pytest.approx(0.95**2 - 0.3**2)
    ada.parameters = MemoryParameters(focus_limit=1, decay_rate=0.01)
    rebuilding.drop()
    rebuilding.begin()
    rebuilding.run()
    found = compare(ada, ("sea",))
    assert (found.only_current, found.only_rebuilt) == (1, 0)
    assert [each.text for each in found.shown_only_current] == [short]
    assert compare(ada, limit=0).shown_only_current == []
    assert found.rebuilt.memories == 1


def test_a_comparison_does_not_count_as_a_read(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.parameters = MemoryParameters(dangling_links="drop_on_visit")
    ada.remember("A [Grace]", "B [Grace]")
    ada.execute("DELETE FROM node WHERE agent_id = %s AND content = 'A [Grace]'")
    rebuilding.begin()
    rebuilding.run()
    compare(ada, ("a",), ("nothing",))
    assert ada.lane().read_at is None
    assert rebuilding.waiting() == []
