"""What stands for a memory that is gone: it is not restored beside it, and not forgotten (M24)."""

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
from memci.language.worth import Judgement
from memci.reading.lists.listings import Listings
from memci.reading.recall import Recall
from memci.schemas.reads import RecallAnswer, RecallRequest
from memci.storage.network.nodes import forget_nodes
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import NoWakeups, Rebuilding, is_same
from tests.support.short_term import consolidate
from tests.support.stored import Reader


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    ada.models.judge.rest = Judgement(eligible=True, worth=3.0)  # all short-term
    return Rebuilding(ada)


@pytest.fixture
def reader(database: Database) -> Iterator[Reader]:
    made = Reader(database)
    yield made
    made.activity.close()


def forget(ada: AgentUnderTest, *nodes: int) -> None:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        forget_nodes(connection, ada.agent_id, dict.fromkeys(nodes, Forgetting.TOO_SHORT), 1)


def merged(ada: AgentUnderTest, *said: str) -> tuple[list[int], int]:
    """Say what says the same, merge it, and return what was merged and into what."""
    ada.remember(*said)
    before = [node.id for node in ada.nodes("memory")]
    (node,) = consolidate(ada)["nodes"]
    return before, int(node)


def erased(ada: AgentUnderTest, *messages: str) -> None:
    wakeups: Any = NoWakeups()
    erase.run(
        ada.database,
        PostgresPageStore(ada.database),
        wakeups,
        ada.agent_id,
        ErasureSelection(list(messages)),
    )


def recalled(reader: Reader, *keywords: str) -> RecallAnswer:
    request = RecallRequest(keywords=keywords, format="structured")
    answer = Recall(*reader.parts).run("ada", request)
    assert isinstance(answer, RecallAnswer)
    return answer


PUMP = ("The pump is broken [Oslo]", "The pump is really broken [Oslo]")


# Merged and erased ones.


def test_what_was_merged_is_not_restored_beside_what_stands_for_it(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    parts, whole = merged(ada, *PUMP)
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


def test_what_was_restored_and_then_merged_is_not_restored_again(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(PUMP[0])
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    rebuilding.restore(old.id)
    rebuilding.run()
    parts, whole = merged(ada, PUMP[1])
    for each in (old.id, *parts):
        with pytest.raises(ConflictError, match=rf"was merged into node {whole}, which lives"):
            rebuilding.restore(each)
    forget(ada, whole)
    for each in (old.id, *parts):
        with pytest.raises(ConflictError, match=rf"merged into node {whole}.*restore that one"):
            rebuilding.restore(each)


def test_a_merged_belief_that_was_superseded_is_not_believed_again(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    parts, paris = merged(ada, "I live in Paris", "Well, I live in Paris!")
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


def test_what_was_erased_with_others_is_not_restored_of_what_is_left(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    parts, whole = merged(ada, *PUMP)
    erased(ada, "m1")
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


# Twins.


def test_two_restores_of_the_same_make_one_memory(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """The one before the network was rebuilt and the one after it were made of the same."""
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


def test_a_twin_that_was_merged_meanwhile_is_enough(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(PUMP[0])
    (old,) = ada.nodes("memory")
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    _, whole = merged(ada, PUMP[1])
    with pytest.raises(ConflictError, match=f"node {whole} was made of the same"):
        rebuilding.restore(old.id)


# Recall.


def test_recall_does_not_call_forgotten_what_was_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.remember("A story of [Grace] and the sea")
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    (gone,) = recalled(reader, "sea").forgotten
    assert (gone.node_id, gone.restorable) == (old.id, True)
    rebuilding.restore(gone.node_id)
    rebuilding.run()
    found = recalled(reader, "sea")
    assert [each.content for each in found.memories] == ["A story of [Grace] and the sea"]
    assert found.forgotten == []
    ada.execute("UPDATE link SET hint = 'umbrella' WHERE agent_id = %s AND target = %s", old.id)
    missed = recalled(reader, "umbrella")  # what only links say
    assert (missed.memories, missed.forgotten, missed.miss) == ([], [], Miss.NEVER_KNOWN)
    # Once the new one is forgotten too, it is the one to be restored.
    (new,) = ada.nodes("memory")
    forget(ada, new.id)
    told = recalled(reader, "umbrella")
    assert told.miss is Miss.FORGOTTEN
    assert {each.node_id for each in told.forgotten} == {new.id}
    assert all(each.restorable and each.forgotten_at is not None for each in told.forgotten)


def test_recall_does_not_call_forgotten_what_was_restored_and_merged(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.remember(PUMP[0])
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    rebuilding.restore(old.id)
    rebuilding.run()
    merged(ada, PUMP[1])
    found = recalled(reader, "pump")
    assert len(found.memories) == 1
    assert found.forgotten == []


def test_in_a_rebuilt_network_too_what_was_restored_is_not_called_forgotten(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.parameters = MemoryParameters(
        focus_limit=1, decay_rate=0.6, min_shrink=1, delete_threshold=20
    )
    ada.remember("A story of [Grace] and the sea")
    old = ada.memories()["A"].id
    ada.remember("B [Oslo]")  # what is in focus, and still has a link to the other
    ada.compress(3)
    assert [each.node_id for each in recalled(reader, "sea").forgotten] == [old]
    rebuilding.restore(old)
    rebuilding.run()
    before = recalled(reader, "sea")
    assert is_same(rebuilding.rebuilt())
    rebuilding.switch()
    rebuilding.run()
    after = recalled(reader, "sea")
    for found in (before, after):
        assert [each.content for each in found.memories] == ["A story of [Grace] and the sea"]
        assert found.forgotten == []


def test_where_no_link_tells_of_it_a_miss_names_what_can_be_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding, reader: Reader
) -> None:
    ada.remember("A boat on the sea [Grace]")
    ada.remember("A storm over the sea [Oslo]", user="bob")
    boat, storm = (node.id for node in ada.nodes("memory"))
    forget(ada, boat, storm)
    ada.execute("DELETE FROM link WHERE agent_id = %s")
    found = recalled(reader, "sea")
    assert (found.miss, found.forgotten, found.knew) == (Miss.FORGOTTEN, [], [storm, boat])
    assert recalled(reader, "boat").knew == [boat]
    assert recalled(reader, "submarine").knew == []
    asked = RecallRequest(keywords=("sea",), format="structured", user_id="ann")
    assert Recall(*reader.parts).run("ada", asked).knew == []
    erased(ada, "m1")
    assert recalled(reader, "sea").knew == [storm]
    rebuilding.restore(storm)
    rebuilding.run()
    assert recalled(reader, "storm").knew == []


# What was said before it (M7).


def neighbours(ada: AgentUnderTest, node: int) -> dict[str, set[str]]:
    """Return the names of the links from a memory to others, and those others' first words."""
    texts = {each.id: each.content.split()[0] for each in ada.nodes("memory")}
    found: dict[str, set[str]] = {}
    for (source, target), link in ada.links().items():
        if source == node and target in texts:
            found.setdefault(link.relation, set()).add(texts[target])
    return found


@pytest.mark.parametrize("session", ["s1", None])
@pytest.mark.parametrize("told", ["whole", "cut"])
def test_what_is_restored_comes_after_what_was_said_before_it(
    ada: AgentUnderTest, rebuilding: Rebuilding, session: str | None, told: str
) -> None:
    """Whether they were three messages or three parts of one."""
    ada.parameters = replace(ada.parameters, related_links=0)
    said = ["A story [Grace]", "B story [Luigi]", "C story [Oslo]"]
    ada.remember(*(said if told == "whole" else ["\n\n".join(said)]), session=session)
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


# How it is shown.


def test_what_is_gone_says_what_became_of_it(
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
    erased(ada, "m5")
    with ada.database.agent_transaction(ada.agent_id) as connection:
        connection.exec_driver_sql(  # a use that was noted late
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
    shown = {each.id: each for each in listings.network("ada", number=1, limit=50).nodes}
    drawn = {each.id: each for each in listings.fading("ada", passes=9, limit=50).memories}
    for found in (shown, drawn):
        assert {node: found[node].gone for node in reasons} == reasons
        assert [node for node in reasons if found[node].forgotten] == [fan]
    event = shown[fan].last_event
    assert event is not None
    assert event.event == "forgotten"
    for node, reason in reasons.items():
        versions = listings.history("ada", node, None).versions
        (state,) = {each.state for each in versions if each.node_id == node}
        assert state == (reason or "current")
