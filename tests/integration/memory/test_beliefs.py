"""A new fact supersedes the one that it contradicts (R6)."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Row

from memci.smallmodel.offline.change_reader import OfflineChangeReader
from memci.storage.pins import read_pins
from tests.support.models import built_in
from tests.support.network import AgentUnderTest
from tests.support.short_term import consolidate


def superseded(ada: AgentUnderTest) -> dict[str, str | None]:
    """Return each memory's text with the text of the memory that superseded it."""
    nodes: dict[int, Row[Any]] = {node.id: node for node in ada.nodes("memory")}
    return {
        node.content: None if node.superseded_by is None else nodes[node.superseded_by].content
        for node in nodes.values()
    }


def ended(ada: AgentUnderTest) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in ada.rows("SELECT * FROM ended_fact WHERE agent_id = %s")]


def test_a_new_value_supersedes_the_old_one_and_both_stay(ada: AgentUnderTest):
    ada.remember("I live in Paris.", "I like tea")
    result = ada.remember("I moved to Rome!")
    assert result["superseded"] == 1
    assert superseded(ada) == {
        "I live in Paris.": "I moved to Rome!",
        "I like tea": None,
        "I moved to Rome!": None,
    }
    old = next(node for node in ada.nodes("memory") if "Paris" in node.content)
    assert old.superseded_at is not None
    assert ada.trail(old.id) == ["created", "superseded"]
    version = ada.row("SELECT * FROM node_version WHERE agent_id = %s")
    assert (version.node_id, version.content, version.reason) == (
        old.id,
        "I live in Paris.",
        "superseded",
    )


def test_an_old_value_that_returns_is_a_third_version(ada: AgentUnderTest):
    for text in ("I live in Paris", "I moved to Rome", "I moved to Paris again"):
        ada.remember(text)
    assert superseded(ada) == {
        "I live in Paris": "I moved to Rome",
        "I moved to Rome": "I moved to Paris again",
        "I moved to Paris again": None,
    }


def test_users_have_beliefs_of_their_own(ada: AgentUnderTest):
    ada.remember("I live in Paris", user="ann")
    assert ada.remember("I moved to Rome", user="bob")["superseded"] == 0
    assert ada.remember("I moved to Oslo", user="ann")["superseded"] == 1


def test_similar_memories_of_other_users_hide_no_change(ada: AgentUnderTest):
    ada.remember("I live in Paris", user="ann")
    for user in ("bob", "cleo", "dan", "eve"):
        ada.remember("I moved to Rome", user=user)
    assert ada.remember("I moved to Oslo", user="ann")["superseded"] == 1


def test_a_message_that_is_erased_meanwhile_moves_no_end(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    job = ada.say("My dog likes to swim", "I moved to Rome", "I like tea")
    effect = ada.creation().prepare(job)
    ada.execute("DELETE FROM message WHERE agent_id = %s AND seq = 2")
    with ada.lease().effect() as connection:
        effect(connection)
    assert superseded(ada)["I live in Paris"] == "I moved to Rome"


def test_assistant_messages_supersede_nothing(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    assert ada.remember("I moved to Rome", role="assistant")["superseded"] == 0


def test_an_older_fact_that_arrives_late_is_superseded_at_once(ada: AgentUnderTest):
    ada.remember("I live in Rome")
    late = ada.say("I live in Paris")
    ada.execute("UPDATE message SET said_at = '2025-01-01' WHERE agent_id = %s AND seq = %s",
                late.last_seq)  # fmt: skip
    assert ada.create(late)["superseded"] == 1
    assert superseded(ada) == {"I live in Rome": None, "I live in Paris": "I live in Rome"}


def test_a_job_that_runs_again_changes_nothing(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    job = ada.say("I moved to Rome")
    ada.create(job)
    before = ada.nodes(), ended(ada)
    assert ada.create(job)["superseded"] == 0
    assert (ada.nodes(), ended(ada)) == before


def test_of_a_memory_that_tells_more_only_a_part_ends(ada: AgentUnderTest):
    ada.remember("I'm Anna, I'm vegetarian and I live in Bern")
    assert ada.remember("I moved to Rome")["superseded"] == 0
    assert set(superseded(ada).values()) == {None}
    (row,) = ada.rows("SELECT parts, told_by, seqs FROM ended_fact WHERE agent_id = %s")
    assert tuple(row) == (["and I live in Bern"], 2, [1])


def test_a_pin_says_what_of_it_is_over(ada: AgentUnderTest):
    ada.remember("I'm Anna, I'm vegetarian and I live in Bern")
    ada.execute(
        "INSERT INTO pin (agent_id, number, kind, text, message_seq, pinned_by)"
        " VALUES (%s, 1, 'preference', '', 1, 'agent')"
    )
    ada.remember("I moved to Rome")
    with ada.database.agent_transaction(ada.agent_id) as connection:
        (pin,) = read_pins(connection, ada.agent_id).pins
    assert pin.text.startswith("I'm Anna, I'm vegetarian and I live in Bern (until ")


def test_a_forgotten_memory_keeps_its_version(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome")
    ada.execute("DELETE FROM focus WHERE agent_id = %s")
    ada.compress(160)
    assert ada.nodes("memory") == []
    assert len(ended(ada)) == 1
    assert ada.row("SELECT content FROM node_version WHERE agent_id = %s")[0] == "I live in Paris"


def test_a_merged_successor_still_supersedes(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome")
    ada.remember("oh, I moved to Rome")
    ada.execute("UPDATE node SET tier = 'short', expires_at = '2027-01-01' WHERE agent_id = %s"
                " AND kind = 'memory'")  # fmt: skip
    (merged,) = consolidate(ada)["nodes"]
    old = next(node for node in ada.nodes("memory") if "Paris" in node.content)
    assert old.superseded_by == merged


def test_a_new_chinese_value_supersedes_the_old_one(ada: AgentUnderTest):
    ada.remember("我住在北京。")
    assert ada.remember("我搬到上海了。")["superseded"] == 1
    assert superseded(ada) == {"我住在北京。": "我搬到上海了。", "我搬到上海了。": None}


@pytest.mark.parametrize(
    ("older", "newer", "part"),
    [
        (
            "I'm Anna, I'm vegetarian and I live in Bern.",
            "It rained all day. I moved to Zurich last week.",
            "I live in Bern",
        ),
        ("我叫小雨，对花生过敏，住在苏州。", "今天下雨。上个月我搬到杭州了。", "住在苏州"),
    ],
)
def test_the_built_in_model_ends_the_fact_that_changed_alone(
    ada: AgentUnderTest, older: str, newer: str, part: str
):
    ada.models.changes = OfflineChangeReader(built_in()[0])
    ada.remember(older)
    assert ada.remember(newer)["superseded"] == 0
    (row,) = ada.rows("SELECT parts FROM ended_fact WHERE agent_id = %s")
    assert [each.removeprefix("and ") for each in row.parts] == [part]


def test_a_change_is_found_among_several_facts_of_one_person(ada: AgentUnderTest):
    ada.models.changes = OfflineChangeReader(built_in()[0])
    facts = [
        "I live in Graz, near the opera.",
        "My sister lives in Salzburg.",
        "I work at a museum in the old town.",
        "My parents have a house in Linz.",
        "I love the mountains around Innsbruck.",
    ]
    for fact in facts:
        ada.remember(fact)
    assert ada.remember("I moved to Vienna.")["superseded"] == 0
    (row,) = ada.rows("SELECT parts FROM ended_fact WHERE agent_id = %s")
    assert row.parts == ["I live in Graz"]
