"""A new fact supersedes the one that it contradicts (R6)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from tests.support.network import AgentUnderTest
from tests.support.short_term import consolidate


def superseded(ada: AgentUnderTest) -> dict[str, str | None]:
    """Return each memory's text with the text of the memory that superseded it."""
    nodes: dict[int, Row[Any]] = {node.id: node for node in ada.nodes("memory")}
    return {
        node.content: None if node.superseded_by is None else nodes[node.superseded_by].content
        for node in nodes.values()
    }


def claims(ada: AgentUnderTest) -> int:
    return len(ada.rows("SELECT 1 FROM claim WHERE agent_id = %s"))


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


def test_assistant_messages_supersede_nothing(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    assert ada.remember("I moved to Rome", role="assistant")["superseded"] == 0


def test_a_correction_supersedes_the_memory_with_the_wrong_value(ada: AgentUnderTest):
    ada.remember("The deadline is Friday", "My favourite day is Monday")
    assert ada.remember("Actually, it's Thursday, not Friday.")["superseded"] == 1
    found = superseded(ada)
    assert found["The deadline is Friday"] == "Actually, it's Thursday, not Friday."
    assert found["My favourite day is Monday"] is None
    assert ada.remember("It's Sunday, not Saturday.")["superseded"] == 0
    assert ada.remember("The deadline is now Wednesday")["superseded"] == 1


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
    before = ada.nodes(), claims(ada)
    assert ada.create(job)["superseded"] == 0
    assert (ada.nodes(), claims(ada)) == before


def test_a_forgotten_memory_claims_nothing_and_keeps_its_version(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome")
    assert claims(ada) == 2
    ada.execute("DELETE FROM focus WHERE agent_id = %s")
    ada.compress(160)
    assert ada.nodes("memory") == []
    assert claims(ada) == 0
    assert ada.row("SELECT content FROM node_version WHERE agent_id = %s")[0] == "I live in Paris"


def test_claims_move_to_the_merged_memory(ada: AgentUnderTest):
    ada.remember("I live in Paris")
    ada.remember("well, I live in Paris")
    ada.execute("UPDATE node SET tier = 'short', expires_at = '2027-01-01' WHERE agent_id = %s"
                " AND kind = 'memory'")  # fmt: skip
    (merged,) = consolidate(ada)["nodes"]
    ada.remember("I moved to Rome")
    node = next(node for node in ada.nodes() if node.id == merged)
    assert node.superseded_by == max(each.id for each in ada.nodes("memory"))


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


def test_a_time_between_subject_and_verb_hides_no_claim(ada: AgentUnderTest):
    ada.remember("我住在成都", "我们把会议搬到周三")
    assert ada.remember("我朋友上星期搬到重庆了")["superseded"] == 0
    assert ada.remember("我上星期搬到重庆了")["superseded"] == 1
    found = superseded(ada)
    (moved,) = {found.pop("我住在成都")}
    assert moved is not None
    assert "搬到重庆" in moved
    assert set(found.values()) == {None}
