"""A rebuild repeats tiers, supersessions and filter results as they were (M24)."""

from __future__ import annotations

import pytest

from memci.domain.memory.node import NodeEvent
from memci.domain.memory.parameters import MemoryParameters
from memci.storage.network.node_history import append_history
from memci.storage.pending_messages import mark_asked
from memci.storage.session import Database
from memci.storage.sessions import end_session
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same
from tests.support.short_term import consolidate

ONE, LONGER = "the pump is broken [Grace]", "The pump is really broken! [Grace]"


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    ada.clock.now = ada.row("SELECT now() AS now, %s AS agent").now
    return Rebuilding(ada)


def end(ada: AgentUnderTest, session: str = "s1") -> None:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        assert end_session(connection, ada.agent_id, session)


def tiers(ada: AgentUnderTest) -> dict[str, str]:
    return {node.content: node.tier for node in ada.nodes("memory")}


def test_merged_memories_stay_merged(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember(ONE, LONGER)
    assert consolidate(ada)["merged"] == 2
    assert is_same(rebuilding.rebuilt())
    (merged,) = rebuilding.on_edition().nodes("memory")
    assert (merged.content, merged.message_seqs) == (LONGER, [1, 2])
    versions = rebuilding.on_edition().rows("SELECT * FROM node_version WHERE agent_id = %s")
    assert {(each.content, each.replaced_by) for each in versions} == {
        (ONE, merged.id), (LONGER, merged.id),
    }  # fmt: skip


def test_a_session_does_not_end_earlier_in_a_rebuild(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(ONE)
    assert consolidate(ada)["settled"] == 0
    ada.remember(LONGER)
    assert consolidate(ada)["merged"] == 2
    end(ada)
    assert consolidate(ada)["settled"] == 1
    assert is_same(rebuilding.rebuilt())
    assert tiers(rebuilding.on_edition()) == tiers(ada) == {LONGER: "long"}


def test_a_rebuild_repeats_the_reasons_for_promotion(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(ONE, "the roof leaks [Luigi]")
    used, _ = ada.nodes("memory")
    ada.execute("DELETE FROM link WHERE agent_id = %s AND source = %s", used.id)
    with ada.database.agent_transaction(ada.agent_id) as connection:
        append_history(connection, ada.agent_id, NodeEvent.USED, 0, {used.id: {"times": 1}})
    end(ada)
    consolidate(ada)
    rebuilding.rebuilt()
    query = "SELECT details FROM trail WHERE agent_id = %s AND event = 'promoted' ORDER BY node_id"
    reasons = [row.details["reason"] for row in ada.rows(query)]
    assert reasons == ["use", "importance"]
    assert [row.details["reason"] for row in rebuilding.on_edition().rows(query)] == reasons


def test_uses_of_a_memory_count_under_its_new_id_too(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(ONE + "\n\nthe roof leaks [Luigi]")
    used, other = ada.nodes("memory")
    with ada.database.agent_transaction(ada.agent_id) as connection:
        append_history(connection, ada.agent_id, NodeEvent.USED, 0, {used.id: {"times": 1}})
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    used, other = ada.nodes("memory")
    assert (ada.trail(used.id), ada.trail(other.id)) == (["created", "used"], ["created"])
    end(ada)
    consolidate(ada)
    query = "SELECT details FROM trail WHERE agent_id = %s AND event = 'promoted' ORDER BY node_id"
    assert [row.details["reason"] for row in ada.rows(query)] == ["use", "importance"]


def test_a_rebuild_does_not_change_the_lane(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.parameters = MemoryParameters(consolidation_interval=4)
    ada.remember(ONE, "the roof leaks [Luigi]")
    consolidate(ada)
    ada.remember("the fan is loud [Oslo]", "the sea is near [Oslo]")
    before = ada.lane()
    rebuilding.rebuilt()
    after = ada.lane()
    assert (after.new_memories, after.expire_at) == (before.new_memories, before.expire_at)
    assert rebuilding.waiting() == []


def test_short_terms_of_a_network_rebuilt_up_to_a_seq_end(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """Also those that had ended in the network before the switch."""
    ada.remember(ONE)
    ada.remember("the roof leaks [Luigi]")
    end(ada)
    consolidate(ada)
    assert ada.lane().expire_at is None
    rebuilding.begin(up_to_seq=1)
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    assert tiers(ada) == {ONE: "short"}
    assert ada.lane().expire_at is not None
    assert ada.lane().new_memories == 1
    consolidate(ada)
    assert tiers(ada) == {ONE: "long"}


@pytest.mark.parametrize("text", ["ok", "thanks!"])
def test_a_filtered_message_that_was_requested_later_is_made_once(
    ada: AgentUnderTest, rebuilding: Rebuilding, text: str
) -> None:
    """Its state was different when later messages were compared with it."""
    ada.remember(ONE, text)
    assert ada.memory_states()[1][0] == "filtered"
    with ada.database.agent_transaction(ada.agent_id) as connection:
        mark_asked(connection, ada.agent_id, [2])
    ada.create(ada.job(2, 2, {"seqs": [2], "wanted": [2]}))
    assert is_same(rebuilding.rebuilt())
    assert sorted(tiers(rebuilding.on_edition())) == sorted([ONE, text])
    assert len(rebuilding.on_edition().nodes("memory")) == 2


def test_a_filtered_message_stays_filtered_if_the_filter_changes(
    database: Database,
) -> None:
    ada = AgentUnderTest(database)
    ada.remember(ONE, "ok")
    ada.parameters = MemoryParameters(simplemem_enabled=False)
    rebuilding = Rebuilding(ada)
    assert is_same(rebuilding.rebuilt())


def test_a_superseded_memory_is_superseded_by_the_new_id(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome")
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    paris, rome = ada.nodes("memory")
    assert (paris.superseded_by, paris.superseded_at, rome.superseded_by) == (
        rome.id, rome.said_at, None,
    )  # fmt: skip
    assert ada.remember("I moved to Oslo")["superseded"] == 1
