"""Rebuilding a network beside the current one, and switching to it (M24)."""

from __future__ import annotations

import pytest

from memci.commands.erase import ErasureSelection, preview
from memci.domain.job import JobState
from memci.errors import ConflictError, NotFoundError
from memci.reading.lists.listings import Listings
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.schema.network import EDITION_SCHEMA, EDITION_TABLES
from tests.support.fading import forget_focus
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def edition_rows(ada: AgentUnderTest) -> dict[str, int]:
    """Return the number of rows of the rebuilt network in each table that has any."""
    counts = {
        table.name: ada.row(
            f"SELECT count(*) AS rows FROM {EDITION_SCHEMA}.{table.name} WHERE agent_id = %s"
        ).rows
        for table in EDITION_TABLES
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
    assert not {node.id for node in before[0]} & {
        node.id for node in rebuilding.on_edition().nodes()
    }
    rebuilding.switch()
    rebuilding.run()
    assert rebuilding.show().state == "switched"
    assert {node.content for node in ada.nodes()} == {node.content for node in before[0]}
    assert edition_rows(ada) == {}


def test_trails_of_old_ids_stay_with_a_reason(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
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
    (removed,) = ada.rows(
        "SELECT details FROM trail WHERE agent_id = %s AND node_id = %s AND event = 'forgotten'",
        old,
    )
    assert removed.details == {"reason": "switched"}


def test_memories_are_not_shown_as_forgotten_after_a_switch(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    ada.compress(passes=2)
    listings = Listings(ada.database)
    old = {node.id for node in ada.nodes("memory")}
    rebuilding.rebuilt()
    rebuilding.switch()
    rebuilding.run()
    # The new network has had no pass yet: the old one is shown as it was.
    fading = listings.fading(ada.agent_id, passes=9, limit=9)
    assert {each.id for each in fading.memories} == old
    assert not any(each.forgotten for each in fading.memories)

    ada.compress(passes=2)
    new = {node.id for node in ada.nodes("memory")}
    fading = listings.fading(ada.agent_id, passes=9, limit=9)
    assert {each.id for each in fading.memories} == new
    assert old.isdisjoint(new)
    assert not any(each.forgotten for each in fading.memories)
    assert fading.left_out == 0
    (switched,) = fading.switched_after
    assert [each.number <= switched for each in fading.passes] == [True, True, False, False]
    past = listings.network(ada.agent_id, number=switched, limit=99)
    assert not any(node.forgotten for node in past.nodes)

    # Memories that the new network forgets are shown as forgotten.
    forget_focus(ada)
    ada.compress(passes=200)
    fading = listings.fading(ada.agent_id, passes=9, limit=9)
    assert {each.id for each in fading.memories if each.forgotten} == new


def test_a_preview_of_an_erasure_counts_forgotten_nodes(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    job = ada.say("A [Grace]", "B [Luigi]")
    ada.create(job)
    selection = ErasureSelection(message_ids=["m1", "m2"])
    store = PostgresPageStore(ada.database)
    assert preview(ada.database, store, ada.agent_id, selection).forgotten == 0
    rebuilding.rebuilt()
    rebuilding.switch()
    rebuilding.run()
    previewed = preview(ada.database, store, ada.agent_id, selection)
    assert (previewed.memories, previewed.entities, previewed.forgotten) == (2, 2, 0)
    forget_focus(ada)
    ada.compress(passes=300)
    assert ada.nodes() == []
    assert preview(ada.database, store, ada.agent_id, selection).forgotten == 4


def test_a_drop_removes_the_edition_and_nothing_else(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    ada.compress()
    before = ada.nodes(), ada.links(), len(ada.rows("SELECT id FROM trail WHERE agent_id = %s"))
    rebuilding.begin()
    rebuilding.step()
    assert edition_rows(ada)
    assert rebuilding.drop().state == "dropped"
    assert edition_rows(ada) == {}
    assert rebuilding.run() == 1  # the queued step finds nothing to do
    trail = len(ada.rows("SELECT id FROM trail WHERE agent_id = %s"))
    assert (ada.nodes(), ada.links(), trail) == before
    assert edition_rows(ada) == {}


def test_a_step_of_a_dropped_edition_does_not_advance_the_next_one(
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


def test_there_is_one_rebuilt_network_at_a_time(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    with pytest.raises(NotFoundError, match="no agent"):
        rebuilding.begin()
    ada.remember("A [Grace]")
    for operation in (rebuilding.switch, rebuilding.drop, rebuilding.show):
        with pytest.raises(NotFoundError, match="begin a rebuild"):
            operation()
    rebuilding.begin()
    with pytest.raises(ConflictError, match=r"edition 1, building.*switch to it or drop it"):
        rebuilding.begin()
    rebuilding.drop()
    assert rebuilding.begin().edition == 2


def test_an_unfinished_pass_continues_in_the_new_network(
    ada: AgentUnderTest, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    with monkeypatch.context() as patch:
        patch.setattr("memci.jobs.compression_pass.BATCH", 2)
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


def test_a_switch_is_refused_with_the_id_of_the_dead_job(
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


def test_only_a_ready_network_is_switched_to(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    rebuilding.begin()
    with pytest.raises(ConflictError, match="still being made: wait until it is ready"):
        rebuilding.switch()
    assert rebuilding.show().state == "building"
    rebuilding.run()
    assert rebuilding.show().state == "ready"
    for _ in range(2):
        rebuilding.switch()
    # After its last step was cancelled, a second switch continues.
    ada.execute("UPDATE job SET state = 'cancelled' WHERE agent_id = %s AND state = 'queued'")
    rebuilding.switch()
    rebuilding.run()
    assert rebuilding.show().state == "switched"
