"""Agents' queues in Redis: read from the tail; only messages that were read are removed."""

from __future__ import annotations

import tracemalloc
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from memci.broker import redis_queues
from memci.broker.intake_queues import noted_size
from memci.broker.names import agent_queue_name
from memci.broker.redis_queues import StrayQueue, stray_queues

KEY = agent_queue_name("a")
LIMIT = 1_000_000


def put(client, *values):
    for value in values:
        client.lpush(KEY, value)


@pytest.mark.parametrize("limit", [1, 19, 20, 21, 40, 100])
def test_the_oldest_messages_come_first(client, queues, limit):
    put(client, *range(50))
    assert queues.take("a", limit, LIMIT).raw == [str(each).encode() for each in range(50)][:limit]


def test_messages_that_arrive_meanwhile_stay(client, queues):
    put(client, 1, 2)
    batch = queues.take("a", 10, LIMIT)
    put(client, 3)
    batch.confirm()
    assert client.lrange(KEY, 0, -1) == [b"3"]


def test_messages_that_were_removed_meanwhile_are_not_removed_again(client, queues):
    put(client, 1, 2)
    batch = queues.take("a", 10, LIMIT)
    client.flushall()
    put(client, 3, 1)
    batch.confirm()
    assert client.lrange(KEY, 0, -1) == [b"1", b"3"]


def test_a_batch_is_bounded_in_bytes(client, queues):
    put(client, *("x" * 100 for _ in range(100)))
    assert len(queues.take("a", 100, 1050).raw) == 10


def test_only_the_ends_of_a_too_large_message_are_read(client, queues):
    size = 40_000_000
    put(client, 1, b"first" + bytes(size - 9) + b"last", 2)
    queues.take("a", 10, LIMIT).confirm()
    with peak_of_memory() as peak:
        batch = queues.take("a", 10, LIMIT)
        (raw,) = batch.raw
        assert queues.take("a", 10, LIMIT).raw == [raw], "the same note each time"
        assert peak() < 1_000_000
    assert noted_size(raw) == size
    assert b"first" in raw
    assert raw.endswith(b"last")
    batch.confirm()
    assert client.lrange(KEY, 0, -1) == [b"2"]


@pytest.mark.parametrize("other", [b"a" * 101, b"b" + b"a" * 99, b"a" * 99 + b"b"])
def test_another_large_message_in_the_same_place_stays(client, queues, other):
    put(client, b"a" * 100)
    batch = queues.take("a", 10, 50)
    client.delete(KEY)
    put(client, other)
    batch.confirm()
    assert client.llen(KEY) == 1


@contextmanager
def peak_of_memory():
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_empty_queue_has_no_messages(queues):
    batch = queues.take("a", 10, LIMIT)
    assert batch.raw == []
    batch.confirm()
    batch.abandon()
    assert queues.depth(KEY) == 0
    assert queues.occupied(["a"], queue_seen=True) == []
    assert queues.waiting() == []


def test_the_list_of_waiting_agents_is_limited(client, queues, monkeypatch):
    monkeypatch.setattr(redis_queues, "_MOST_WAITING", 10)
    for number in range(30):
        client.lpush(agent_queue_name(f"a{number}"), "x")
    assert len(queues.waiting()) == 10


def test_a_queue_of_no_agent_is_logged_once(queues, client):
    client.lpush(b"memci.agent.a \x1b[31m\xff", "x")
    client.lpush("memci.agent.a", "x")
    with capture_logs() as logs:
        assert [queues.waiting() for _ in range(2)] == [["a"], ["a"]]
    (warning,) = logs
    assert warning["log_level"] == "warning"
    assert warning["queue"] == "memci.agent.a ?[31m\N{REPLACEMENT CHARACTER}"


def test_queues_of_no_agent_are_counted_up_to_a_limit(queues, client):
    client.lpush("memci.agent...", "x", "y")
    client.lpush("memci.agent.a", "x")
    assert stray_queues(client, 5) == [StrayQueue(b"memci.agent...", 2)]
    assert stray_queues(client, 0) == []
