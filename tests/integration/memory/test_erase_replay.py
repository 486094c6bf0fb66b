"""Rebuilds and supersessions after erasures (M25 with M24 and R6)."""

from __future__ import annotations

import psycopg
import pytest

from memci.domain.memory.compression_scan import Forgetting
from memci.reading.lists.listings import Listings
from memci.storage.network.nodes import forget_nodes
from memci.storage.schema.network import EDITION_SCHEMA, EDITION_TABLES
from memci.storage.sessions import end_session
from tests.support.erasing import Eraser, SegmentsOf, found_in_database
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same
from tests.support.short_term import consolidate


def contents(ada: AgentUnderTest) -> list[str]:
    return sorted(node.content for node in ada.nodes("memory"))


def names(ada: AgentUnderTest) -> list[str]:
    return sorted(node.content for node in ada.nodes("entity"))


def forget(ada: AgentUnderTest, *nodes: int) -> None:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        forget_nodes(connection, ada.agent_id, dict.fromkeys(nodes, Forgetting.TOO_SHORT), 1)


# Erased, then rebuilt.


def test_a_message_that_shared_a_memory_is_rebuilt_once(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser
) -> None:
    ada.models.segmenter = SegmentsOf(2)
    ada.remember("one [Grace]", "two [Oslo]")
    ada.remember("three [Rome]", "four [Lima]", session="s2")
    ada.compress()
    eraser.erase("m1")
    rebuilding.run()
    assert contents(ada) == ["three [Rome]\nfour [Lima]", "two [Oslo]"]
    rebuilding.rebuilt()
    edition = rebuilding.on_edition()
    assert contents(edition) == contents(ada)
    assert names(edition) == names(ada) == ["Lima", "Oslo", "Rome"]
    assert edition.focus() == ada.focus()


def test_a_rebuild_after_erasing_the_last_message_gives_the_same_network(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser
) -> None:
    ada.remember("one [Grace]")
    ada.compress()
    ada.remember("two [Oslo]", session="s2")
    eraser.erase("m2")
    found = rebuilding.rebuilt()
    assert is_same(found), found


def test_a_restored_memory_that_is_remembered_again_is_not_restored_too(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser
) -> None:
    ada.remember("one [Grace]\n\nmore [Grace]", "two [Oslo]")
    more = ada.memories()["more"].id
    forget(ada, more)
    rebuilding.restore(more)
    rebuilding.run()
    two = ada.memories()["two"].id
    ada.execute("UPDATE node SET message_seqs = '{1,2}' WHERE agent_id = %s AND id = %s", two)
    eraser.erase("m2")
    rebuilding.run()
    assert contents(ada) == ["more [Grace]", "one [Grace]"]
    rebuilding.rebuilt()
    assert contents(rebuilding.on_edition()) == contents(ada)


def test_the_remaining_message_of_a_merged_memory_is_remembered_alone(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser
) -> None:
    ada.remember("the pump is broken [Grace]", "The pump is really broken! [Grace]")
    assert consolidate(ada)["merged"] == 2
    eraser.erase("m2")
    rebuilding.run()
    assert contents(ada) == ["the pump is broken [Grace]"]
    assert ada.rows("SELECT * FROM node_version WHERE agent_id = %s") == []
    rebuilding.rebuilt()
    assert contents(rebuilding.on_edition()) == contents(ada)


def test_a_restored_memory_is_not_cut_out_of_the_remaining_messages(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser
) -> None:
    """The span of its text is relative to all the messages together."""
    ada.models.segmenter = SegmentsOf(2)
    ada.remember("one [Grace]", "two of it [Oslo]")
    (old,) = ada.nodes("memory")
    ada.execute(
        "UPDATE trail SET details = details || '{\"span\": [3, 9]}' WHERE agent_id = %s"
        " AND node_id = %s", old.id,
    )  # fmt: skip
    forget(ada, old.id)
    rebuilding.restore(old.id)
    eraser.erase("m1")
    rebuilding.run()
    assert contents(ada) == []


# While a network is rebuilt.


def test_an_erasure_drops_a_network_that_is_being_rebuilt(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser
) -> None:
    ada.remember("one [Grace]", "two [Oslo]")
    ada.compress()
    rebuilding.begin()
    rebuilding.step()
    assert len(rebuilding.on_edition().nodes("memory")) == 2
    eraser.erase("m1")
    assert rebuilding.show().state == "dropped"
    for table in EDITION_TABLES:
        assert ada.rows(f"SELECT 1 FROM {EDITION_SCHEMA}.{table.name} WHERE agent_id = %s") == []
    assert rebuilding.step() == {"replayed": 0}
    rebuilding.rebuilt()
    assert contents(rebuilding.on_edition()) == ["two [Oslo]"]


# Supersession.


def beliefs(ada: AgentUnderTest) -> dict[str, int | None]:
    return {node.content: node.superseded_by for node in ada.nodes("memory")}


@pytest.mark.parametrize("forgotten", [False, True])
def test_a_memory_is_current_again_when_the_newer_one_is_erased(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser, forgotten: bool
) -> None:
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome")
    if forgotten:
        forget(ada, ada.nodes("memory")[-1].id)
    eraser.erase("m2")
    (paris,) = ada.nodes("memory")
    assert (paris.superseded_by, paris.superseded_at) == (None, None)
    assert ada.rows("SELECT * FROM node_version WHERE agent_id = %s") == []
    rebuilding.rebuilt()
    assert beliefs(rebuilding.on_edition()) == {"I live in Paris": None}


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize(
    ("erased", "forgotten"), [("m2 m3 m4", False), ("m2 m3 m4", True), ("m3", False)]
)
def test_a_memory_is_current_again_when_a_merged_newer_one_is_erased(
    ada: AgentUnderTest, eraser: Eraser, erased: str, forgotten: bool, twice: bool
) -> None:
    """Versions of merged memories are erased with the memory that replaced them."""
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome", "oh, I moved to Rome")
    merged = merge_all(ada)
    if twice:
        ada.remember("well, I moved to Rome")
        merged = merge_all(ada)
    assert ada.nodes("memory")[0].superseded_by == merged
    if forgotten:
        forget(ada, merged)
    eraser.erase(*erased.split()[: 3 if twice else 2])
    (paris,) = ada.nodes("memory")
    assert (paris.superseded_by, paris.superseded_at) == (None, None)
    (only,) = Listings(ada.database).history("ada", paris.id, None).versions
    assert (only.node_id, only.state, only.holds) == (paris.id, "current", True)


def test_a_memory_stays_superseded_while_one_of_the_merged_messages_remains(
    ada: AgentUnderTest, eraser: Eraser
) -> None:
    """The forgotten memory is not made again, so only the version supersedes Paris."""
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome")
    rome = ada.nodes("memory")[-1]
    ada.remember("oh, I moved to Rome")
    forget(ada, merge_all(ada))
    eraser.erase("m3")
    (paris,) = ada.nodes("memory")
    assert (paris.superseded_by, paris.superseded_at) == (rome.id, rome.said_at)
    versions = Listings(ada.database).history("ada", paris.id, None).versions
    assert {each.node_id: each.state for each in versions} == {
        paris.id: "superseded", rome.id: "merged",
    }  # fmt: skip
    eraser.erase("m2")
    assert beliefs(ada) == {"I live in Paris": None}


def merge_all(ada: AgentUnderTest) -> int:
    """Make all memories short-term, merge those that say the same, and return the new node."""
    ada.execute("UPDATE node SET tier = 'short', expires_at = '2027-01-01' WHERE agent_id = %s"
                " AND kind = 'memory'")  # fmt: skip
    (merged,) = consolidate(ada)["nodes"]
    return int(merged)


def test_the_fact_after_an_erased_one_supersedes_the_fact_before_it(
    ada: AgentUnderTest, rebuilding: Rebuilding, eraser: Eraser
) -> None:
    for text in ("I live in Paris", "I moved to Rome", "I moved to Oslo"):
        ada.remember(text)
    eraser.erase("m2")
    paris, oslo = ada.nodes("memory")
    assert (paris.superseded_by, paris.superseded_at) == (oslo.id, oslo.said_at)
    rebuilding.rebuilt()
    old, new = rebuilding.on_edition().nodes("memory")
    assert (old.superseded_by, new.superseded_by) == (new.id, None)


def test_one_of_two_newer_facts_is_enough_to_supersede(ada: AgentUnderTest, eraser: Eraser) -> None:
    """Rome arrives after Oslo, but was said before it."""
    ada.remember("I live in Paris")
    ada.execute("UPDATE message SET said_at = '2025-01-01' WHERE agent_id = %s")
    ada.execute("UPDATE node SET said_at = '2025-01-01' WHERE agent_id = %s")
    ada.remember("I moved to Oslo")
    late = ada.say("I moved to Rome")
    ada.execute("UPDATE message SET said_at = '2025-06-01' WHERE agent_id = %s AND seq = 3")
    ada.create(late)
    paris, oslo, rome = ada.nodes("memory")
    assert (paris.superseded_by, rome.superseded_by) == (rome.id, oslo.id)
    eraser.erase("m3")
    assert beliefs(ada) == {"I live in Paris": oslo.id, "I moved to Oslo": None}


# All tables are searched for marks, those of rebuilt networks too.

MARK = "Zyxquartz"


@pytest.fixture
def marked(ada: AgentUnderTest, rebuilding: Rebuilding) -> AgentUnderTest:
    """Claims, versions, mentions, an ended session and a rebuilt network, all with marks."""
    about = f"[{MARK}]"
    ada.remember("the sea is near [Oslo]", session="plain")
    ada.remember(
        f"I live in {MARK}1 with my family {about}",
        f"the {MARK}2 pump is broken {about}",
        session=MARK,
    )
    ada.remember(f"The {MARK}2 pump is really broken! {about}", session=MARK)
    ada.remember(f"We have moved to {MARK}3 with my whole family {about}", session=MARK)
    rebuilding.mention(MARK.upper())
    rebuilding.mention(f"{MARK}2")
    (own,) = (node.id for node in ada.nodes("entity") if node.content == f"{MARK}2")
    ada.execute("DELETE FROM focus WHERE agent_id = %s AND node_id = %s", own)
    forget(ada, own)
    assert consolidate(ada)["merged"] == 2
    with ada.database.agent_transaction("ada") as connection:
        end_session(connection, "ada", MARK)
    consolidate(ada)
    rebuilding.begin()
    rebuilding.run()
    return ada


TABLES = {"ended_fact", "node_version", "session_end", "replay_log", "node", "message"}


@pytest.mark.parametrize("what", ["session", "messages", "agent"])
def test_erased_text_is_in_no_table(
    marked: AgentUnderTest,
    rebuilding: Rebuilding,
    eraser: Eraser,
    superuser: psycopg.Connection,
    what: str,
) -> None:
    found = found_in_database(superuser, MARK)
    assert {place.split(".")[0] for place in found} >= TABLES
    assert {place.split(".")[1] for place in found if EDITION_SCHEMA in place} >= {
        "ended_fact", "node_version", "replay_log", "node",
    }  # fmt: skip
    if what == "agent":
        eraser.erase_agent()
    elif what == "session":
        eraser.erase(session=MARK)
    else:
        eraser.erase("m2", "m3", "m4", "m5")
    assert found_in_database(superuser, MARK) == []
    if what != "agent":
        rebuilding.rebuilt()
        assert contents(rebuilding.on_edition()) == ["the sea is near [Oslo]"]
        assert found_in_database(superuser, MARK) == []
