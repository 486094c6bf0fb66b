"""Laws of erasing (M25), on a real database: any part of a conversation can be erased alone.

Each example is an agent of its own in one database.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import count
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.storage.archive.consistency import check_consistency
from memci.storage.session import Database
from tests.support.databases import Databases
from tests.support.erasing import Eraser, SegmentsOf
from tests.support.examples import examples
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders

NAMES = ("Grace", "Oslo", "王小明")
MESSAGES = st.lists(
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True), min_size=1, max_size=8
)


@pytest.fixture(scope="module")
def eraser(databases: Databases, process_redis: Any) -> Iterator[Eraser]:
    with (
        databases.lend() as url,
        closing(Database(url)) as database,
        make_app(process_redis.url) as app,
        closing(redis.Redis.from_url(process_redis.url)) as client,
    ):
        yield Eraser(database, Wakeups(app), client)


_numbers = count()


@pytest.mark.timeout(600)  # a failure is shrunk for five minutes
@given(mentions=MESSAGES, together=st.integers(1, 3), chosen=st.sets(st.integers(0, 7), min_size=1))
@settings(max_examples=examples(200))
def test_erased_messages_disappear_and_others_stay(
    eraser: Eraser, mentions: list[list[str]], together: int, chosen: set[int]
) -> None:
    erased = sorted({place % len(mentions) + 1 for place in chosen})
    ada = AgentUnderTest(eraser.database, agent_id=f"agent-{next(_numbers)}")
    ada.models.segmenter = SegmentsOf(together)
    ada.remember(*[f"text{n} " + " ".join(f"[{name}]" for name in names)
                   for n, names in enumerate(mentions, 1)])  # fmt: skip
    # Interactions of two messages, on stored pages.
    ada.execute("UPDATE message SET role = 'assistant' WHERE agent_id = %s AND seq %% 2 = 0")
    ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    pages = Folders(eraser.database, eraser.store, agent_id=ada.agent_id)
    pages.note("A note", "of nobody's message")
    before = {node.id: node for node in ada.nodes()}
    eraser.agent_id = ada.agent_id
    preview = eraser.preview(*(f"m{seq}" for seq in erased))

    receipt = eraser.erase(*(f"m{seq}" for seq in erased))

    messages = {row.seq: row for row in ada.rows("SELECT * FROM message WHERE agent_id = %s")}
    assert sorted(messages) == [n for n in range(1, len(mentions) + 1) if n not in erased]
    nodes = {node.id: node for node in ada.nodes()}
    _check_kept_nodes(before, nodes, set(messages))
    to_repeat = {
        seq for row in messages.values() if row.memory_state == "pending" for seq in [row.seq]
    }
    _check_memory(ada, nodes, set(messages), to_repeat)
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        check_consistency(connection, ada.agent_id)  # the agent can still be moved
    removed = before.keys() - nodes.keys()
    assert _last_events(ada, removed) <= {"erased"}
    body: Any = receipt.body
    assert preview.pages == body["pages"]
    window = pages.window()
    for seq in range(1, len(mentions) + 1):
        assert (f"text{seq}" in window) == (seq in messages)
    assert "A note" in window
    assert body["memories"] + body["entities"] == len(removed)
    assert (preview.memories, preview.entities) == (body["memories"], body["entities"])
    assert preview.again == len(to_repeat)


def _check_kept_nodes(before: dict[int, Any], nodes: dict[int, Any], stored: set[int]) -> None:
    """Nodes are unchanged, but an entity of erased messages gets one that names it."""
    for i, node in nodes.items():
        old = before[i]
        kept = [seq for seq in old.message_seqs if seq in stored]
        assert {**node._mapping, "message_seqs": old.message_seqs} == old._mapping
        assert set(kept) <= set(node.message_seqs) <= stored
        assert kept == old.message_seqs == node.message_seqs or (
            node.kind == "entity" and len(kept) <= len(node.message_seqs) <= len(kept) + 1
        )
        assert node.message_seqs


def _last_events(ada: AgentUnderTest, nodes: Collection[int]) -> set[str]:
    query = (
        "SELECT DISTINCT ON (node_id) event FROM trail WHERE agent_id = %s AND node_id = ANY(%s)"
        " ORDER BY node_id, id DESC"
    )
    return {row.event for row in ada.rows(query, list(nodes))}


def _check_memory(
    ada: AgentUnderTest, nodes: dict[int, Any], stored: set[int], to_repeat: set[int]
) -> None:
    memories = [node for node in nodes.values() if node.kind == "memory"]
    remembered = {seq for node in memories for seq in node.message_seqs}
    assert remembered | to_repeat == stored
    assert not remembered & to_repeat
    texts = " ".join(node.content for node in memories)
    assert {node.content for node in nodes.values() if node.kind == "entity"} >= {
        name for name in NAMES if f"[{name}]" in texts
    }
    for link in ada.links().values():
        assert {link.source, link.target} <= nodes.keys()
    assert set(ada.focus()) <= {node.content for node in nodes.values()}
    (indexed,) = ada.rows(
        "SELECT ARRAY(SELECT node_id FROM node_vector v WHERE v.agent_id = lane.agent_id) AS dense,"
        " ARRAY(SELECT node_id FROM node_term t WHERE t.agent_id = lane.agent_id) AS terms"
        " FROM lane WHERE agent_id = %s"
    )
    assert set(indexed.dense) == set(indexed.terms) == {node.id for node in memories}
