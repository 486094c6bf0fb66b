"""Rebuilding a network beside the current one (M24): each case by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memci.commands.erase_preview import preview
from memci.commands.erase_which import Which
from memci.domain.lane.job import JobState
from memci.domain.memory import slots
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.message import Message
from memci.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    SmallModelUnavailableError,
)
from memci.reading.listings import Listings
from memci.smallmodel.ports import TopicSegment, Vectors
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.reading.once_known import was_known
from memci.storage.reading.sight import EVERYTHING, Sight
from memci.storage.rows import EDITION_SCHEMA, TWINNED
from memci.storage.vector_model import VectorModel, change_model
from tests.support.fading import forget_focus
from tests.support.models import BagOfWords, OneSegmentAMessage, ScriptedCompressor, is_down
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same

# What leaves the focus is cut in the second pass.
FADING = MemoryParameters(focus_limit=1, decay_rate=0.3, min_shrink=0)
LONG = "A long enough to be cut [Grace]"


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    return Rebuilding(ada)


def left_behind(ada: AgentUnderTest) -> dict[str, int]:
    """Rows of a rebuilt network that are there still, by table."""
    counts = {
        table.name: ada.row(
            f"SELECT count(*) AS rows FROM {EDITION_SCHEMA}.{table.name} WHERE agent_id = %s"
        ).rows
        for table in TWINNED
    }
    return {name: rows for name, rows in counts.items() if rows}


def test_reads_see_the_current_network_until_it_is_switched(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    ada.compress(3)
    before = ada.nodes(), ada.links()
    rebuilding.begin()
    rebuilding.run()
    assert (ada.nodes(), ada.links()) == before
    assert rebuilding.show().state == "ready"
    assert not {node.id for node in before[0]} & {node.id for node in rebuilding.beside().nodes()}
    rebuilding.switch()
    rebuilding.run()
    assert rebuilding.show().state == "switched"
    assert {node.content for node in ada.nodes()} == {node.content for node in before[0]}
    assert left_behind(ada) == {}


def test_trails_of_old_ids_stay_and_say_why(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    old = ada.memories()["A"].id
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    new = ada.memories()["A"].id
    assert new != old
    assert ada.trail(old) == ["created", "forgotten"]
    assert ada.trail(new) == ["created"]
    (gone,) = ada.rows(
        "SELECT details FROM trail WHERE agent_id = %s AND node_id = %s AND event = 'forgotten'",
        old,
    )
    assert gone.details == {"reason": "switched"}


def test_what_was_made_anew_is_not_said_to_be_forgotten(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    ada.compress(passes=2)
    listings = Listings(ada.database)
    old = {node.id for node in ada.nodes("memory")}
    rebuilding.rebuilt()
    rebuilding.switch()
    rebuilding.run()
    # No pass has left anything of the new network: the old one is shown as it was.
    shown = listings.fading(ada.agent_id, passes=9, limit=9)
    assert {each.id for each in shown.memories} == old
    assert not any(each.forgotten for each in shown.memories)

    ada.compress(passes=2)
    new = {node.id for node in ada.nodes("memory")}
    shown = listings.fading(ada.agent_id, passes=9, limit=9)
    assert {each.id for each in shown.memories} == new
    assert old.isdisjoint(new)
    assert not any(each.forgotten for each in shown.memories)
    assert shown.left_out == 0
    (switched,) = shown.switched_after
    assert [each.number <= switched for each in shown.passes] == [True, True, False, False]
    past = listings.network(ada.agent_id, number=switched, limit=99)
    assert not any(node.forgotten for node in past.nodes)

    # What is forgotten of the new one is said to be.
    forget_focus(ada)
    ada.compress(passes=200)
    shown = listings.fading(ada.agent_id, passes=9, limit=9)
    assert {each.id for each in shown.memories if each.forgotten} == new


def test_a_preview_of_erasing_counts_what_the_network_has_forgotten(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    job = ada.say("A [Grace]", "B [Luigi]")
    ada.create(job)
    asked = Which(message_ids=["m1", "m2"])
    store = PostgresPageStore(ada.database)
    assert preview(ada.database, store, ada.agent_id, asked).forgotten == 0
    rebuilding.rebuilt()
    rebuilding.switch()
    rebuilding.run()
    condemned = preview(ada.database, store, ada.agent_id, asked)
    assert (condemned.memories, condemned.entities, condemned.forgotten) == (2, 2, 0)
    forget_focus(ada)
    ada.compress(passes=300)
    assert ada.nodes() == []
    assert preview(ada.database, store, ada.agent_id, asked).forgotten == 4


def test_a_drop_leaves_nothing_and_touches_nothing(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    ada.compress()
    before = ada.nodes(), ada.links(), len(ada.rows("SELECT id FROM trail WHERE agent_id = %s"))
    rebuilding.begin()
    rebuilding.step()
    assert left_behind(ada)
    assert rebuilding.drop().state == "dropped"
    assert left_behind(ada) == {}
    assert rebuilding.run() == 1  # the step that waited finds nothing to do
    trail = len(ada.rows("SELECT id FROM trail WHERE agent_id = %s"))
    assert (ada.nodes(), ada.links(), trail) == before
    assert left_behind(ada) == {}


def test_a_step_of_a_dropped_edition_does_not_take_the_next_one_further(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]")
    rebuilding.begin()
    rebuilding.drop()
    rebuilding.begin()
    assert rebuilding.step() == {"replayed": 0}
    assert rebuilding.show().replayed == 0
    assert rebuilding.run() > 0
    assert is_same(rebuilding.compared())


def test_what_happens_meanwhile_is_in_the_switched_network_once(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    for day in range(4):
        ada.remember(f"day{day} [Grace]")
        ada.compress()
    rebuilding.begin()
    rebuilding.step()
    ada.remember("between [Luigi]")
    rebuilding.run()
    assert rebuilding.show().state == "ready"
    ada.remember("afterwards [Oslo]")
    ada.compress()
    found = rebuilding.show()
    assert (found.events or 0) > (found.replayed or 0)
    rebuilding.switch()
    rebuilding.step()
    ada.remember("during [Oslo]")
    rebuilding.mention("Late")
    rebuilding.run()
    assert sorted(ada.memories()) == ["afterwards", "between", "day0", "day1", "day2", "day3",
                                      "during"]  # fmt: skip
    assert len(ada.nodes("memory")) == 7
    assert ada.focus()[-1] == "Late"
    assert is_same(rebuilding.rebuilt())


def test_there_is_one_rebuilt_network_at_a_time(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    with pytest.raises(NotFoundError, match="no agent"):
        rebuilding.begin()
    ada.remember("A [Grace]")
    for act in (rebuilding.switch, rebuilding.drop, rebuilding.show):
        with pytest.raises(NotFoundError, match="begin a rebuild"):
            act()
    rebuilding.begin()
    with pytest.raises(ConflictError, match=r"edition 1, building.*switch to it or drop it"):
        rebuilding.begin()
    rebuilding.drop()
    assert rebuilding.begin().edition == 2


def test_up_to_a_seq_the_network_is_as_it_was(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    ada.compress(2)
    then = [(node.content, node.scan_count) for node in ada.nodes()]
    ada.remember("B [Luigi]", "C [Oslo]")
    ada.compress(2)
    rebuilding.begin(up_to_seq=1)
    rebuilding.run()
    assert [(node.content, node.scan_count) for node in rebuilding.beside().nodes()] == then
    ada.remember("D [Luigi]")
    rebuilding.switch()
    rebuilding.run()
    # Of what came later, only what came after the rebuild was begun.
    assert set(ada.memories()) == {"A", "D"}
    states = ada.rows("SELECT memory_state, remember FROM message WHERE agent_id = %s ORDER BY seq")
    assert [tuple(row) for row in states] == [
        ("made", "now"), ("none", "never"), ("none", "never"), ("made", "now"),
    ]  # fmt: skip
    assert is_same(rebuilding.rebuilt())


def test_what_a_switch_has_left_out_was_known_once_and_is_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("heron [Grace]")
    ada.remember("kestrel [Luigi]")
    ada.say("osprey", remember="never")
    lost = ada.memories()["kestrel"].id
    rebuilding.begin(up_to_seq=1)
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    assert set(ada.memories()) == {"heron"}

    def known(word: str, sight: Sight = EVERYTHING) -> bool:
        with ada.database.agent_snapshot(ada.agent_id) as connection:
            return was_known(connection, ada.agent_id, [], [word], sight)

    assert known("kestrel")
    assert not known("osprey")  # of this no memory was ever made
    assert not known("kestrel", Sight(user_id="somebody else"))
    # Made anew, it is of the network that another rebuild makes too.
    rebuilding.restore(lost)
    rebuilding.run()
    assert set(ada.memories()) == {"heron", "kestrel"}
    assert is_same(rebuilding.rebuilt())


def test_a_network_is_not_made_up_to_a_message_that_is_not_there(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    with pytest.raises(InvalidInputError, match="no message 3: the last one is 2") as refused:
        rebuilding.begin(up_to_seq=3)
    assert refused.value.field == "up_to_seq"
    assert rebuilding.begin(up_to_seq=2).up_to_seq == 2


def test_of_messages_that_came_together_those_up_to_the_seq_are_taken(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    rebuilding.begin(up_to_seq=2)
    rebuilding.run()
    assert set(rebuilding.beside().memories()) == {"A", "B"}


def test_erased_messages_are_not_brought_back(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    ada.remember("C [Oslo]")
    ada.execute("DELETE FROM message WHERE agent_id = %s AND seq IN (1, 3)")
    rebuilding.begin()
    rebuilding.run()
    assert set(rebuilding.beside().memories()) == {"B"}


def test_what_is_born_between_the_beginning_of_a_pass_and_its_first_node_waits_again(
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
    assert [(n.scan_count, n.last_pass) for n in rebuilding.beside().nodes()] == scans


def test_the_same_nodes_give_up_their_slots_again(
    ada: AgentUnderTest, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "DRAWN", 2)
    ada.parameters = MemoryParameters(node_capacity=20, focus_limit=2)
    for day in range(15):
        ada.remember(*(f"{day}-{n} talk with [P{day}]" for n in range(3)))
    assert len(ada.nodes()) == 20
    assert is_same(rebuilding.rebuilt())


def test_models_see_the_same_vectors_again(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
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
    assert not any(seen[0][1])  # a long message's parts count, not the whole


def test_while_the_model_is_down_a_replayed_pass_waits(
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


def test_a_rebuilt_network_keeps_what_the_model_failed_at(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """Calls are counted as in any pass: after the last one it goes on without."""
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
    assert LONG in {node.content for node in rebuilding.beside().nodes()}


def test_a_pass_under_way_goes_on_in_the_new_network(
    ada: AgentUnderTest, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    with monkeypatch.context() as patch:
        patch.setattr("memci.jobs.compress.BATCH", 2)
        ada.ask_for_pass()
        lease = ada.lease()
        ada.compression().step(lease, budget_ms=0)
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    scanned = [node.last_pass for node in ada.nodes()]
    assert sorted(scanned) == [0, 0, 0, 0, 1, 1]
    ada.compress()
    assert {node.last_pass for node in ada.nodes()} == {2} or {
        node.scan_count for node in ada.nodes()
    } <= {1, 2}
    assert is_same(rebuilding.rebuilt())


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


def test_vectors_of_another_embedder_are_made_anew_before_a_switch(
    ada: AgentUnderTest, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memci.jobs.replay.REEMBEDDED", 2)
    ada.remember(*(f"{name} [Grace]" for name in "ABCDE"))
    rebuilding.begin()
    rebuilding.run()
    change_embedder(ada)
    rebuilding.switch()
    rebuilding.run()
    assert rebuilding.show().state == "switched"
    assert models_of_memories(ada) == {("other-words", 96)}
    assert len(ada.memories()) == 5


def test_the_embedder_changes_while_a_network_is_rebuilt(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """Its memories are compared with those that were replayed before: none of them is missed."""
    ada.parameters = MemoryParameters(related_threshold=0.3)
    for number in range(4):
        ada.remember(f"some words of number {number} [P{number}]", session=f"s{number}")
    rebuilding.begin()
    for _ in range(2):
        rebuilding.step()
    assert models_of_memories(rebuilding.beside()) == {("bag-of-words", 64)}
    change_embedder(ada)
    rebuilding.run()
    assert rebuilding.show().state == "ready"
    assert models_of_memories(rebuilding.beside()) == {("other-words", 96)}
    links = rebuilding.beside().links()
    ids = [node.id for node in rebuilding.beside().nodes("memory")]
    related = {(one, other) for one, other in links if {one, other} <= set(ids)}
    assert {(ids[3], ids[1]), (ids[2], ids[1])} & related


def test_a_dead_step_is_named_to_whoever_wants_to_switch(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]")
    job = rebuilding.begin().job
    assert job is not None
    ada.execute("UPDATE job SET state = 'dead' WHERE agent_id = %s")
    assert rebuilding.show().job == job.model_copy(update={"state": JobState.DEAD})
    with pytest.raises(ConflictError, match=f"job {job.id} is dead: replay that job, or drop"):
        rebuilding.switch()
    ada.execute("UPDATE job SET state = 'cancelled' WHERE agent_id = %s")
    with pytest.raises(ConflictError, match="no job works at it: drop it, and rebuild anew"):
        rebuilding.switch()


def test_only_one_that_is_ready_is_switched_to(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    rebuilding.begin()
    with pytest.raises(ConflictError, match="still being made: wait until it is ready"):
        rebuilding.switch()
    assert rebuilding.show().state == "building"
    rebuilding.run()
    assert rebuilding.show().state == "ready"
    for _ in range(2):
        rebuilding.switch()
    # Who cancels its last step goes on by asking again.
    ada.execute("UPDATE job SET state = 'cancelled' WHERE agent_id = %s AND state = 'queued'")
    rebuilding.switch()
    rebuilding.run()
    assert rebuilding.show().state == "switched"
