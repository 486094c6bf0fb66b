"""Consolidation merges memories that say the same and ends short terms (R5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memci.domain.job import JobKind
from memci.domain.memory.parameters import MemoryParameters
from memci.queue.job_requests import request_consolidation
from memci.storage.session import Database
from memci.storage.sessions import end_session
from tests.support.network import AgentUnderTest
from tests.support.short_term import SAID, consolidate, remember

ONE, LONGER, OTHER = "the pump is broken", "The pump is really broken!", "the fan is loud"


def contents(ada: AgentUnderTest) -> list[str]:
    return sorted(node.content for node in ada.nodes("memory"))


def versions(ada: AgentUnderTest) -> list[tuple[int, int, str, str]]:
    rows = ada.rows("SELECT * FROM node_version WHERE agent_id = %s ORDER BY node_id")
    return [(row.node_id, row.replaced_by, row.reason, row.content) for row in rows]


def test_two_memories_that_say_the_same_are_merged_into_the_longer_text(ada: AgentUnderTest):
    one, longer, other = remember(ada, ONE, LONGER, OTHER)
    links = ada.links()
    outside = {end for ends in links for end in ends} - {one, longer}
    slots = {node.slot for node in ada.nodes()}
    result = consolidate(ada)
    (new,) = result["nodes"]
    assert result["merged"] == 2
    assert contents(ada) == sorted([LONGER, OTHER])
    merged = next(node for node in ada.nodes() if node.id == new)
    assert merged.message_seqs == [1, 2]
    assert (merged.tier, merged.slot in slots) == ("short", True)
    assert new > other
    for (source, target), link in ada.links().items():
        assert {source, target}.isdisjoint({one, longer})
        if new in (source, target):
            ends = [(old if source == new else source, old if target == new else target)
                    for old in (one, longer)]  # fmt: skip
            assert link.strength == max(links[each].strength for each in ends if each in links)
    assert {end for ends in ada.links() for end in ends} - {new} == outside
    assert versions(ada) == [(one, new, "merged", ONE), (longer, new, "merged", LONGER)]
    assert ada.trail(one) == ["created", "merged"]
    created = ada.row("SELECT details FROM trail WHERE agent_id = %s AND node_id = %s", new)
    assert created.details["from"] == [one, longer]
    assert created.details["messages"] == [1, 2]
    for table in ("node_vector", "node_term"):
        rows = ada.rows(f"SELECT DISTINCT node_id FROM {table} WHERE agent_id = %s")
        assert {row.node_id for row in rows} == {new, other}


def test_a_second_consolidation_changes_nothing(ada: AgentUnderTest):
    remember(ada, ONE, LONGER, OTHER)
    consolidate(ada)
    before = (ada.nodes(), ada.links(), versions(ada))
    assert consolidate(ada)["merged"] == 0
    assert (ada.nodes(), ada.links(), versions(ada)) == before


def test_a_new_memory_is_merged_with_one_that_was_compared_before(ada: AgentUnderTest):
    remember(ada, ONE, OTHER)
    assert consolidate(ada)["merged"] == 0
    remember(ada, LONGER)
    assert consolidate(ada)["merged"] == 2
    remember(ada, "THE PUMP IS REALLY BROKEN")
    assert consolidate(ada)["merged"] == 2
    assert contents(ada) == sorted([LONGER, OTHER])
    assert len(versions(ada)) == 4


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"session": "s2"},
        {"session": None},
        {"user": "u2"},
        {"said_at": SAID + timedelta(days=1)},
        {"role": "assistant"},
    ],
    ids=str,
)
def test_another_session_user_day_or_speaker_is_not_merged(ada: AgentUnderTest, elsewhere):
    remember(ada, ONE)
    remember(ada, ONE, **elsewhere)
    assert consolidate(ada)["merged"] == 0
    assert len(contents(ada)) == 2


def test_long_term_memories_and_entities_are_never_merged(ada: AgentUnderTest):
    remember(ada, ONE, LONGER, about=["Grace", "GRACE hopper", "the pump is broken"])
    ada.execute("UPDATE node SET tier = 'long' WHERE agent_id = %s")
    before = ada.nodes()
    assert consolidate(ada)["merged"] == 0
    assert [node.id for node in ada.nodes()] == [node.id for node in before]


@pytest.mark.parametrize(
    "different",
    [
        "the pump is not broken",
        "the pump was broken",
        "Is the pump broken?",
        "the old pump is broken",
        "the pump is broken off",
        f"{OTHER}, {ONE}",  # contains the other text and more
    ],
)
def test_texts_with_different_meaning_are_not_merged(ada: AgentUnderTest, different: str):
    remember(ada, ONE, different)
    assert consolidate(ada)["merged"] == 0


def test_memories_are_not_merged_into_a_node_without_links(ada: AgentUnderTest):
    remember(ada, ONE, LONGER)
    memories = [node.id for node in ada.nodes("memory")]
    ada.execute("DELETE FROM link WHERE agent_id = %s AND target <> ALL(%s)", memories)
    assert consolidate(ada)["merged"] == 0
    assert len(contents(ada)) == 2


def test_memories_of_different_agents_are_not_merged(ada: AgentUnderTest, database: Database):
    bob = AgentUnderTest(database, "bob")
    remember(ada, ONE)
    remember(bob, ONE)
    assert consolidate(ada)["merged"] == consolidate(bob)["merged"] == 0


def test_simplemem_off_merges_nothing_and_still_ends_terms(database: Database):
    ada = AgentUnderTest(database, parameters=MemoryParameters(simplemem_enabled=False))
    remember(ada, ONE, LONGER, hours=1)
    ada.clock.advance(3_601)
    result = consolidate(ada)
    assert (result["merged"], result["settled"]) == (0, 2)


# The end of a short term.


def test_an_expired_short_term_memory_becomes_long_term(ada: AgentUnderTest):
    early, late = remember(ada, ONE, hours=1)[0], remember(ada, OTHER, hours=5)[0]
    ada.clock.advance(3_600)
    assert consolidate(ada)["settled"] == 1
    tiers = {node.id: node.tier for node in ada.nodes("memory")}
    assert tiers == {early: "long", late: "short"}
    assert ada.lane().expire_at == ada.clock() + timedelta(hours=4)
    ada.clock.advance(4 * 3_600)
    consolidate(ada)
    assert {node.tier for node in ada.nodes("memory")} == {"long"}
    assert ada.lane().expire_at is None


def test_the_end_of_a_session_ends_its_short_terms_and_no_others(ada: AgentUnderTest):
    remember(ada, ONE)
    remember(ada, OTHER, session="s2")
    end(ada, "s1")
    assert consolidate(ada)["settled"] == 1
    assert {node.session_id: node.tier for node in ada.nodes("memory")} == {
        "s1": "long",
        "s2": "short",
    }
    (again,) = remember(ada, "the roof leaks")
    assert consolidate(ada)["settled"] == 0
    assert next(node for node in ada.nodes() if node.id == again).tier == "short"


def end(ada: AgentUnderTest, session: str) -> None:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        assert end_session(connection, ada.agent_id, session)


def test_silence_ends_a_session(database: Database):
    ada = AgentUnderTest(database, parameters=MemoryParameters(session_silence_hours=2))
    remember(ada, ONE, hours=100)
    ada.execute("UPDATE message SET received_at = '2026-01-01' WHERE agent_id = %s")
    ada.clock.advance(2 * 3_600 - 1)
    assert consolidate(ada)["settled"] == 0
    assert ada.lane().expire_at == ada.clock() + timedelta(seconds=1)
    ada.clock.advance(1)
    assert consolidate(ada)["settled"] == 1


def test_a_silence_limit_beyond_the_calendar_never_ends_a_session(database: Database):
    ada = AgentUnderTest(database, parameters=MemoryParameters(session_silence_hours=1e308))
    remember(ada, ONE, hours=1)
    assert consolidate(ada)["settled"] == 0
    assert ada.lane().expire_at == ada.clock() + timedelta(hours=1)
    ada.clock.advance(3_600)
    assert consolidate(ada)["settled"] == 1


def test_the_trail_records_why_a_memory_was_promoted(ada: AgentUnderTest):
    worthy = remember(ada, ONE, worth=6.0, hours=1)[0]
    used, plain = remember(ada, OTHER, "the roof leaks", worth=5.9, hours=1)
    important = remember(ada, "the cellar is dry", worth=1.0, hours=1)[0]
    ada.execute("DELETE FROM link WHERE agent_id = %s AND source = ANY(%s)", [used, plain])
    ada.execute(
        "INSERT INTO trail (agent_id, node_id, event, pass_number, details)"
        " VALUES (%s, %s, 'used', 0, '{}')",
        used,
    )
    ada.clock.advance(3_600)
    result = consolidate(ada)
    assert (result["settled"], result["promoted"]) == (4, 3)
    rows = ada.rows(
        "SELECT node_id, event, details FROM trail WHERE agent_id = %s"
        " AND event IN ('promoted', 'settled')"
    )
    assert {row.node_id: row.details.get("reason") for row in rows} == {
        worthy: "worth",
        used: "use",
        important: "importance",
        plain: None,
    }
    promoted = {node.id: node.promoted_at for node in ada.nodes("memory")}
    assert promoted[plain] is None
    assert {promoted[node] for node in (worthy, used, important)} == {ada.clock()}
    assert len(contents(ada)) == 4  # the end of a term deletes nothing
    assert consolidate(ada)["settled"] == 0


def test_without_tiers_every_short_term_memory_becomes_long_term(ada: AgentUnderTest):
    remember(ada, ONE, OTHER)
    ada.parameters = replace(ada.parameters, tiered_memory_enabled=False)
    assert consolidate(ada)["settled"] == 2


# When a consolidation is requested.


def waiting(ada: AgentUnderTest) -> int:
    rows = ada.rows("SELECT 1 FROM job WHERE agent_id = %s AND kind = %s", JobKind.CONSOLIDATE)
    return len(rows)


def test_enough_new_memories_request_a_consolidation(database: Database):
    ada = AgentUnderTest(database, parameters=MemoryParameters(consolidation_interval=3))
    remember(ada, "a pump", "a fan")
    assert (waiting(ada), ada.lane().new_memories) == (0, 2)
    remember(ada, "a roof", "a cellar")
    assert (waiting(ada), ada.lane().new_memories) == (1, 0)
    remember(ada, "one", "two", "three")
    assert waiting(ada) == 1  # the queued job is enough
    consolidate(ada)
    assert ada.lane().new_memories == 0


def test_simplemem_off_requests_nothing(database: Database):
    parameters = MemoryParameters(consolidation_interval=1, simplemem_enabled=False)
    ada = AgentUnderTest(database, parameters=parameters)
    remember(ada, "a pump", "a fan")
    assert waiting(ada) == 0


def test_the_lane_stores_when_the_first_short_term_ends(ada: AgentUnderTest):
    remember(ada, ONE, hours=7)
    first = ada.lane().expire_at
    assert first == ada.clock() + timedelta(hours=7)
    remember(ada, OTHER, hours=9)
    assert ada.lane().expire_at == first
    remember(ada, "the roof leaks", hours=2)
    assert ada.lane().expire_at == ada.clock() + timedelta(hours=2)


def test_a_request_joins_a_queued_one_that_has_not_started(ada: AgentUnderTest):
    ada.say("hello")
    with ada.database.lane_transaction() as connection:
        first, second = (
            request_consolidation(connection, "ada"),
            request_consolidation(connection, "ada"),
        )
    assert (first.coalesced, second.coalesced) == (False, True)
    assert first.job_id == second.job_id
    ada.execute("UPDATE job SET started = 1 WHERE agent_id = %s")  # it may have read the memories
    with ada.database.lane_transaction() as connection:
        assert not request_consolidation(connection, "ada").coalesced
