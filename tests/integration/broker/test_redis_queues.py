"""Agents' lists: read from the tail, removed as far as they are still what was read."""

from __future__ import annotations

import pytest

from memci.broker import redis_queues
from memci.broker.names import agent_queue_name

KEY = agent_queue_name("a")


def put(client, *values):
    for value in values:
        client.lpush(KEY, value)


@pytest.mark.parametrize("limit", [1, 19, 20, 21, 40, 100])
def test_the_oldest_come_first(client, queues, limit):
    put(client, *range(50))
    assert queues.take("a", limit).raw == [str(each).encode() for each in range(50)][:limit]


def test_what_comes_meanwhile_stays(client, queues):
    put(client, 1, 2)
    batch = queues.take("a", 10)
    put(client, 3)
    batch.confirm()
    assert client.lrange(KEY, 0, -1) == [b"3"]


def test_what_somebody_else_removed_is_not_removed_again(client, queues):
    put(client, 1, 2)
    batch = queues.take("a", 10)
    client.flushall()
    put(client, 3, 1)
    batch.confirm()
    assert client.lrange(KEY, 0, -1) == [b"1", b"3"]


def test_a_batch_is_bounded_in_bytes(client, queues, monkeypatch):
    monkeypatch.setattr(redis_queues, "_ENOUGH_BYTES", 1000)
    put(client, *("x" * 100 for _ in range(100)))
    assert len(queues.take("a", 100).raw) == 20


def test_nothing_is_there(queues):
    batch = queues.take("a", 10)
    assert batch.raw == []
    batch.confirm()
    batch.abandon()
    assert queues.depth(KEY) == 0
    assert queues.occupied(["a"], rung=True) == []
    assert queues.waiting() == []


def test_waiting_is_bounded(client, queues, monkeypatch):
    monkeypatch.setattr(redis_queues, "_MOST_WAITING", 10)
    for number in range(30):
        client.lpush(agent_queue_name(f"a{number}"), "x")
    assert len(queues.waiting()) == 10
