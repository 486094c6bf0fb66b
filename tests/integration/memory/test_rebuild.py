"""Rebuilding a network beside the current one, and switching to it (M24): each case by itself."""

from __future__ import annotations

import pytest

from memci.commands.erase import ErasureSelection, preview
from memci.domain.job import JobState
from memci.errors import ConflictError, NotFoundError
from memci.reading.lists.listings import Listings
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.schema import EDITION_SCHEMA, EDITION_TABLES
from tests.support.fading import forget_focus
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def left_behind(ada: AgentUnderTest) -> dict[str, int]:
    """Rows of a rebuilt network that are there still, by table."""
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
    asked = ErasureSelection(message_ids=["m1", "m2"])
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


def test_a_pass_under_way_goes_on_in_the_new_network(
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
