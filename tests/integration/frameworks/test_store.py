"""The store behaves as LangGraph's tests expect: keys, values, namespaces, expiry."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from memci import AsyncMemci
from memci.client import Agent
from memci.errors import InvalidInputError, MemciError
from memci.integrations.langgraph import MemciStore
from tests.integration.http.serving import Served


@pytest.fixture
def store(agent: Agent) -> MemciStore:
    return MemciStore(agent)


def age_items(server: Served, minutes: float) -> None:
    """Make all items older in the database."""
    with server.runtime.database.agent_transaction("alice") as connection:
        connection.exec_driver_sql(
            "UPDATE item SET expires_at = expires_at - %s * interval '1 minute'", (minutes,)
        )


def test_an_item_is_stored_until_it_is_deleted(store: MemciStore):
    assert store.get(("users", "小明"), "likes") is None
    store.put(("users", "小明"), "likes", {"food": "面条", "n": 1, "deep": {"list": [1, None]}})
    item = store.get(("users", "小明"), "likes")
    assert item is not None
    assert item.value == {"food": "面条", "n": 1, "deep": {"list": [1, None]}}
    assert (item.namespace, item.key) == (("users", "小明"), "likes")
    assert item.created_at == item.updated_at
    store.put(("users", "小明"), "likes", {"food": "rice"})
    again = store.get(("users", "小明"), "likes")
    assert again is not None
    assert again.value == {"food": "rice"}
    assert again.created_at == item.created_at < again.updated_at
    store.delete(("users", "小明"), "likes")
    store.delete(("users", "小明"), "likes")
    assert store.get(("users", "小明"), "likes") is None


def test_reads_of_a_batch_see_the_state_before_it(store: MemciStore):
    store.put(("a",), "old", {"n": 1})
    results = store.batch(
        [
            PutOp(("a",), "new", {"n": 2}),
            GetOp(("a",), "new"),
            GetOp(("a",), "old"),
            SearchOp(("a",)),
            ListNamespacesOp(),
            PutOp(("a",), "old", None),
            PutOp(("a",), "new", {"n": 3}),
        ]
    )
    assert results[0] is results[1] is results[5] is results[6] is None
    old: Any = results[2]
    assert old.value == {"n": 1}
    assert [each.key for each in results[3]] == ["old"]  # type: ignore[union-attr]
    assert results[4] == [("a",)]
    assert [(each.key, each.value) for each in store.search(("a",))] == [("new", {"n": 3})]


def test_a_batch_of_writes_succeeds_or_fails_as_a_whole(store: MemciStore):
    with pytest.raises(InvalidInputError):
        store.batch([PutOp(("a",), "good", {}), PutOp(("a",), "bad", {"text": "\x00"})])
    assert store.search(()) == []


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ({"color": "red"}, {"a", "c"}),
        ({"color": {"$eq": "red"}}, {"a", "c"}),
        ({"color": {"$ne": "red"}}, {"b", "d"}),
        ({"score": {"$gt": 2}}, {"b", "c"}),
        ({"score": {"$gte": 2}}, {"b", "c", "d"}),
        ({"score": {"$lt": 2.5, "$gte": 1}}, {"a", "d"}),
        ({"score": {"$lte": 1}}, {"a"}),
        ({"color": "red", "score": {"$gt": 2}}, {"c"}),
        ({"of": {"city": "伯尔尼"}}, {"a"}),
        ({"of": {"size": {"$gt": 3}}}, {"b"}),
        ({"tags": ["x", "y"]}, {"c"}),
        ({"color": None}, {"d"}),
        ({"none'; DROP TABLE item; --": 1}, set()),
    ],
)
def test_items_are_found_by_their_values(store: MemciStore, condition: Any, keys: set[str]):
    values: dict[str, dict[str, Any]] = {
        "a": {"color": "red", "score": 1, "of": {"city": "伯尔尼"}},
        "b": {"color": "blue", "score": 2.5, "of": {"size": 4}},
        "c": {"color": "red", "score": 10, "tags": ["x", "y"]},
        "d": {"score": 2},
    }
    store.batch([PutOp(("things", key), key, value) for key, value in values.items()])
    found = store.search(("things",), filter=condition)
    assert {each.key for each in found} == keys


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ({"n": {"$regex": "x"}}, "$regex"),
        ({"n": {"$gt": 1, "$lte": 3, "$in": [2]}}, "$in"),
        ({"n": {"$gt": 1, "m": 2}}, "m"),
        ({"of": {"size": {"$exists": True}}}, "$exists"),
    ],
)
def test_the_error_names_an_unknown_operator(store: MemciStore, condition: Any, name: str):
    with pytest.raises(InvalidInputError) as raised:
        store.search(("things",), filter=condition)
    assert f"{name} is no operator: expected $eq, $ne, $gt, $gte, $lt, $lte" in str(raised.value)


def test_values_with_keys_like_operators_can_be_compared(store: MemciStore):
    store.put(("things",), "a", {"schema": {"$id": "s1"}})
    assert store.search(("things",), filter={"schema": {"$eq": {"$id": "s1"}}})


def test_a_search_is_within_a_namespace_and_in_pages(store: MemciStore):
    for number in range(5):
        store.put(("docs", "en"), f"k{number}", {"n": number})
    store.put(("docs", "zh"), "other", {})
    store.put(("docsy",), "another", {})
    assert len(store.search(("docs",))) == 6
    assert len(store.search(())) == 7
    pages = [store.search(("docs", "en"), limit=2, offset=at) for at in (0, 2, 4)]
    assert [[each.value["n"] for each in page] for page in pages] == [[4, 3], [2, 1], [0]]


def test_namespaces_are_listed_by_prefix_and_suffix(store: MemciStore):
    paths = [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "b", "f"),
        ("a", "c", "f"),
        ("b", "a", "f"),
        ("users", "123"),
        ("users", "456", "settings"),
    ]
    store.batch([PutOp(each, "k", {}) for each in paths])
    assert store.list_namespaces() == sorted(paths)
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("a", "b", "f"),
    ]
    assert store.list_namespaces(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
    assert store.list_namespaces(suffix=("f",)) == [
        ("a", "b", "f"),
        ("a", "c", "f"),
        ("b", "a", "f"),
    ]
    assert store.list_namespaces(prefix=("users",), suffix=("settings",)) == [paths[-1]]
    assert store.list_namespaces(limit=2, offset=1) == sorted(paths)[1:3]
    both = (MatchCondition("prefix", ("a",)), MatchCondition("suffix", ("*", "f")))
    assert store.batch([ListNamespacesOp(both)]) == [[("a", "b", "f"), ("a", "c", "f")]]


def test_names_that_langgraph_refuses_are_refused(store: MemciStore):
    for namespace in ((), ("",), ("a.b",), ("langgraph",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])
    with pytest.raises(InvalidInputError):
        store.put(("a",), "k" * 3_000, {})


def test_an_item_with_a_ttl_expires(server: Served, store: MemciStore):
    store.put(("t",), "kept", {})
    store.put(("t",), "short", {}, ttl=10)
    age_items(server, 9)
    assert store.get(("t",), "short", refresh_ttl=False) is not None
    assert store.get(("t",), "short") is not None  # extends the time to live
    age_items(server, 9)
    assert len(store.search(("t",), refresh_ttl=False)) == 2
    age_items(server, 2)
    assert store.get(("t",), "short") is None
    assert [each.key for each in store.search(("t",))] == ["kept"]
    store.put(("t",), "kept", {})
    with server.runtime.database.agent_snapshot("alice") as connection:
        rows = connection.exec_driver_sql("SELECT key FROM item").scalars().all()
    assert rows == ["kept"]  # the expired row is deleted


def test_a_store_may_have_a_default_ttl(server: Served, agent: Agent):
    store = MemciStore(agent, ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(("t",), "k", {})
    age_items(server, 4)
    assert store.get(("t",), "k") is not None
    age_items(server, 2)
    assert store.get(("t",), "k") is None


def test_agents_do_not_see_each_others_items(server: Served, agent: Agent, store: MemciStore):
    store.put(("a",), "k", {})
    with server.runtime.database.agent_snapshot("bob") as connection:
        assert connection.exec_driver_sql("SELECT FROM item").all() == []
    assert agent.about().messages == 0  # the first item creates the agent
    receipt = agent.erase_agent()
    assert receipt.body["rows"] == {"item": 1}
    assert store.get(("a",), "k") is None


async def _use_asyncio(store: MemciStore) -> list[str]:
    await store.aput(("a",), "k", {"n": 1})
    await asyncio.gather(*(store.aput(("b",), f"k{n}", {"n": n}) for n in range(5)))
    assert (await store.aget(("a",), "k")) is not None
    assert await store.alist_namespaces() == [("a",), ("b",)]
    await store.adelete(("a",), "k")
    return sorted(each.key for each in await store.asearch(()))


def test_all_methods_can_be_awaited(server: Served, store: MemciStore):
    async def native() -> list[str]:
        async with AsyncMemci(server.url) as memci:
            own = MemciStore(memci.agent("bob"))
            with pytest.raises(MemciError, match="can only be awaited"):
                own.get(("a",), "k")
            return await _use_asyncio(own)

    keys = [f"k{n}" for n in range(5)]
    assert asyncio.run(_use_asyncio(store)) == keys
    assert asyncio.run(store.aget(("b",), "k0")) is not None  # on another event loop
    assert asyncio.run(native()) == keys
