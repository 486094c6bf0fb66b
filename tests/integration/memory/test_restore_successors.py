"""A memory with a successor is neither restored nor shown as forgotten (M24)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from memci.commands import erase
from memci.commands.erase import ErasureSelection
from memci.domain.memory.compression_scan import Forgetting
from memci.domain.memory.node import RemovalReason
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import Miss
from memci.errors import ConflictError
from memci.reading.lists.listings import Listings
from memci.reading.recall import Recall
from memci.schemas.reads import RecallAnswer, RecallRequest
from memci.smallmodel.ports import Judgement
from memci.storage.network.nodes import forget_nodes
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import NoWakeups, Rebuilding, is_same
from tests.support.short_term import consolidate
from tests.support.stored import Reader


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    ada.models.judge.rest = Judgement(eligible=True, worth=5.0)  # all short-term
    return Rebuilding(ada)


@pytest.fixture
def reader(database: Database) -> Iterator[Reader]:
    made = Reader(database)
    yield made
    made.activity.close()


def forget(ada: AgentUnderTest, *nodes: int) -> None:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        forget_nodes(connection, ada.agent_id, dict.fromkeys(nodes, Forgetting.TOO_SHORT), 1)


def merge(ada: AgentUnderTest, *texts: str) -> tuple[list[int], int]:
    """Store texts that say the same, merge them, and return the old nodes and the new one."""
    ada.remember(*texts)
    before = [node.id for node in ada.nodes("memory")]
    (node,) = consolidate(ada)["nodes"]
    return before, int(node)


def erase_messages(ada: AgentUnderTest, *messages: str) -> None:
    wakeups: Any = NoWakeups()
    erase.run(
        ada.database,
        PostgresPageStore(ada.database),
        wakeups,
        ada.agent_id,
        ErasureSelection(list(messages)),
    )


def recall(reader: Reader, *keywords: str) -> RecallAnswer:
    request = RecallRequest(keywords=keywords, format="structured")
    answer = Recall(*reader.parts).run("ada", request)
    assert isinstance(answer, RecallAnswer)
    return answer


PUMP = ("The pump is broken [Oslo]", "The pump is really broken [Oslo]")


# Merged and erased memories.


def test_a_merged_memory_is_not_restored_beside_its_successor(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    parts, whole = merge(ada, *PUMP)
    for part in parts:
        with pytest.raises(ConflictError, match=rf"was merged into node {whole}, which lives"):
            rebuilding.restore(part)
    forget(ada, whole)
    for part in parts:
        with pytest.raises(ConflictError, match=rf"merged into node {whole}.*restore that one"):
            rebuilding.restore(part)
    rebuilding.restore(whole)
    rebuilding.run()
    (again,) = ada.nodes("memory")
    for part in parts:
        with pytest.raises(ConflictError, match=rf"was merged into node {again.id}, which lives"):
            rebuilding.restore(part)
    assert rebuilding.waiting() == []


def test_a_memory_that_was_restored_and_merged_is_not_restored_again(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(PUMP[0])
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    rebuilding.restore(old.id)
    rebuilding.run()
    parts, whole = merge(ada, PUMP[1])
    for each in (old.id, *parts):
        with pytest.raises(ConflictError, match=rf"was merged into node {whole}, which lives"):
            rebuilding.restore(each)
    forget(ada, whole)
    for each in (old.id, *parts):
        with pytest.raises(ConflictError, match=rf"merged into node {whole}.*restore that one"):
            rebuilding.restore(each)


def test_a_restored_merged_memory_is_still_superseded(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    parts, paris = merge(ada, "I live in Paris", "Well, I live in Paris!")
    ada.remember("I moved to Rome")
    rome = ada.nodes("memory")[-1].id
    forget(ada, paris, rome)
    for part in parts:
        with pytest.raises(ConflictError, match=rf"node {paris}.*restore that one"):
            rebuilding.restore(part)
    assert rebuilding.run() == 0
    rebuilding.restore(paris)
    rebuilding.run()
    (again,) = ada.nodes("memory")
    assert again.superseded_by == rome


def test_parts_of_an_erased_merged_memory_are_not_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    parts, whole = merge(ada, *PUMP)
    erase_messages(ada, "m1")
    rebuilding.run()
    (left,) = ada.nodes("memory")
    assert left.message_seqs == [2]
    with pytest.raises(ConflictError, match=rf"merged into node {whole}, which was erased"):
        rebuilding.restore(parts[1])
    with pytest.raises(ConflictError, match=f"node {whole} was erased"):
        rebuilding.restore(whole)
    forget(ada, left.id)
    with pytest.raises(ConflictError, match="which was erased"):
        rebuilding.restore(parts[1])
    assert rebuilding.waiting() == []
    rebuilding.restore(left.id)
    rebuilding.run()
    assert [node.message_seqs for node in ada.nodes("memory")] == [[2]]


# Memories of the same messages.


def test_two_restores_of_the_same_messages_make_one_memory(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """The memories before and after a rebuild were made of the same messages."""
    ada.remember("A story [Grace]")
    (old,) = ada.nodes("memory")
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    (new,) = ada.nodes("memory")
    forget(ada, new.id)
    rebuilding.restore(old.id)
    rebuilding.restore(new.id)
    made = [rebuilding.step()["node"] for _ in range(2)]
    (again,) = ada.nodes("memory")
    assert made == [again.id] * 2
    assert rebuilding.waiting() == []
    assert is_same(rebuilding.rebuilt())


def test_a_memory_whose_copy_was_merged_is_not_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(PUMP[0])
    (old,) = ada.nodes("memory")
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    _, whole = merge(ada, PUMP[1])
    with pytest.raises(ConflictError, match=f"node {whole} was made of the same"):
        rebuilding.restore(old.id)


# Recall.


def test_recall_does_not_report_a_restored_memory_as_forgotten(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.remember("A coast of [Grace] as it was")
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    (forgotten,) = recall(reader, "coast").forgotten
    assert (forgotten.node_id, forgotten.restorable) == (old.id, True)
    rebuilding.restore(forgotten.node_id)
    rebuilding.run()
    found = recall(reader, "coast")
    assert [each.content for each in found.memories] == ["A coast of [Grace] as it was"]
    assert found.forgotten == []
    ada.execute("UPDATE link SET hint = 'umbrella' WHERE agent_id = %s AND target = %s", old.id)
    missed = recall(reader, "umbrella")  # only a hint has this word
    assert (missed.memories, missed.forgotten, missed.miss) == ([], [], Miss.NEVER_KNOWN)
    # When the new one is forgotten too, that one can be restored.
    (new,) = ada.nodes("memory")
    forget(ada, new.id)
    answer = recall(reader, "umbrella")
    assert answer.miss is Miss.FORGOTTEN
    assert {each.node_id for each in answer.forgotten} == {new.id}
    assert all(each.restorable and each.forgotten_at is not None for each in answer.forgotten)


def test_recall_does_not_report_a_restored_and_merged_memory_as_forgotten(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.remember(PUMP[0])
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    rebuilding.restore(old.id)
    rebuilding.run()
    merge(ada, PUMP[1])
    found = recall(reader, "pump")
    assert len(found.memories) == 1
    assert found.forgotten == []


def test_a_rebuilt_network_does_not_report_a_restored_memory_as_forgotten(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.parameters = MemoryParameters(
        focus_limit=1, decay_rate=0.6, min_shrink=1, delete_threshold=20
    )
    ada.remember("A coast of [Grace] as it was")
    old = ada.memories()["A"].id
    ada.remember("B [Oslo]")  # in focus, and still linked to the other one
    ada.compress(3)
    assert [each.node_id for each in recall(reader, "coast").forgotten] == [old]
    rebuilding.restore(old)
    rebuilding.run()
    before = recall(reader, "coast")
    assert is_same(rebuilding.rebuilt())
    rebuilding.switch()
    rebuilding.run()
    after = recall(reader, "coast")
    for found in (before, after):
        assert [each.content for each in found.memories] == ["A coast of [Grace] as it was"]
        assert found.forgotten == []


def test_a_miss_names_restorable_memories_without_links(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.remember("A boat on the sea [Grace]")
    ada.remember("A storm over the sea [Oslo]", user="bob")
    boat, storm = (node.id for node in ada.nodes("memory"))
    forget(ada, boat, storm)
    ada.execute("UPDATE link SET hint = 'a harbour' WHERE agent_id = %s")
    hinted = recall(reader, "sea")
    assert {each.node_id for each in hinted.forgotten} == {boat, storm}
    assert {each.hint for each in hinted.forgotten} == {"a harbour"}
    ada.execute("DELETE FROM link WHERE agent_id = %s")
    found = recall(reader, "sea")
    assert (found.miss, found.forgotten, found.knew) == (Miss.FORGOTTEN, [], [storm, boat])
    assert recall(reader, "boat").knew == [boat]
    assert recall(reader, "submarine").knew == []
    request = RecallRequest(keywords=("sea",), format="structured", user_id="ann")
    assert Recall(*reader.parts).run("ada", request).knew == []
    erase_messages(ada, "m1")
    assert recall(reader, "sea").knew == [storm]
    rebuilding.restore(storm)
    rebuilding.run()
    assert recall(reader, "storm").knew == []


# The memory said before (M7).


def neighbours(ada: AgentUnderTest, node: int) -> dict[str, set[str]]:
    """Return the relations of a memory to others, each with the first words of those."""
    texts = {each.id: each.content.split()[0] for each in ada.nodes("memory")}
    found: dict[str, set[str]] = {}
    for (source, target), link in ada.links().items():
        if source == node and target in texts:
            found.setdefault(link.relation, set()).add(texts[target])
    return found


@pytest.mark.parametrize("session", ["s1", None])
@pytest.mark.parametrize("form", ["whole", "cut"])
def test_a_restored_memory_follows_the_memory_said_before_it(
    ada: AgentUnderTest, rebuilding: Rebuilding, session: str | None, form: str
) -> None:
    """The texts are three messages or three parts of one."""
    ada.parameters = replace(ada.parameters, related_links=0)
    texts = ["A story [Grace]", "B story [Luigi]", "C story [Oslo]"]
    ada.remember(*(texts if form == "whole" else ["\n\n".join(texts)]), session=session)
    ada.remember("Other [Oslo]", session="s2")
    for name, before in (("A", None), ("B", "A"), ("C", "B")):
        old = ada.memories()[name].id
        forget(ada, old)
        rebuilding.restore(old)
        rebuilding.run()
        new = ada.memories()[name].id
        links = neighbours(ada, new)
        assert links == ({} if before is None else {"previous": {before}})
        if before is not None:
            assert name in neighbours(ada, ada.memories()[before].id)["next"]
    a, b = ada.memories()["A"].id, ada.memories()["B"].id
    forget(ada, a, b)
    rebuilding.restore(b)
    rebuilding.run()
    assert neighbours(ada, ada.memories()["B"].id) == {}


# Listings.


def test_listings_give_the_reason_for_the_removal_of_a_memory(
    ada: AgentUnderTest, rebuilding: Rebuilding, database: Database
) -> None:
    others = ("A fan is loud [Luigi]", "It rains [Grace]", "Birds sing [Bonn]", "Dogs bark [Rome]")
    ada.remember(*PUMP, *others)
    one, two, fan, rain, birds, dogs = (node.id for node in ada.nodes("memory"))
    ada.compress()
    consolidate(ada)
    forget(ada, fan, rain)
    rebuilding.restore(rain)
    rebuilding.run()
    erase_messages(ada, "m5")
    with ada.database.agent_transaction(ada.agent_id) as connection:
        connection.exec_driver_sql(  # a use that was recorded late
            "INSERT INTO trail (agent_id, node_id, event, pass_number, details)"
            " VALUES ('ada', %s, 'used', 1, '{\"times\": 1}')",
            (fan,),
        )
    reasons = {
        one: RemovalReason.MERGED,
        two: RemovalReason.MERGED,
        fan: RemovalReason.FORGOTTEN,
        rain: RemovalReason.RESTORED,
        birds: RemovalReason.ERASED,
        dogs: None,
    }
    listings = Listings(database)
    network = {each.id: each for each in listings.network("ada", number=1, limit=50).nodes}
    fading = {each.id: each for each in listings.fading("ada", passes=9, limit=50).memories}
    for found in (network, fading):
        assert {node: found[node].removal_reason for node in reasons} == reasons
        assert [node for node in reasons if found[node].forgotten] == [fan]
    event = network[fan].last_event
    assert event is not None
    assert event.event == "forgotten"
    for node, reason in reasons.items():
        versions = listings.history("ada", node, None).versions
        (state,) = {each.state for each in versions if each.node_id == node}
        assert state == (reason or "current")
