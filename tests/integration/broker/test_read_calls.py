"""Reads over the broker, answered in a reply key."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from threading import Thread

import pytest

from memci import errors
from memci.broker.app import make_producer
from memci.broker.message_decoding import decode
from memci.broker.names import READ_QUEUE
from memci.broker.read_calls import BoundedReads, RedisReads, Replies, wrap_answer, wrap_error
from memci.errors import (
    BrokerUnavailableError,
    InvalidInputError,
    MemciError,
    ReadsBusyError,
    ReadTimeoutError,
)
from memci.testing import wait_until

KEY = "memci.reply." + "0" * 32


@pytest.fixture
def reads(app, broker_url):
    made = RedisReads(app, broker_url, 5000)
    yield made
    made.close()


@pytest.fixture
def replies(client):
    return Replies(client)


@pytest.fixture
def answering(client, replies) -> Iterator[list[dict[str, object]]]:
    """A context worker that answers with the first item of the yielded list."""
    script: list[object] = []

    def serve():
        while (found := client.brpop([READ_QUEUE], timeout=5)) is not None:
            arguments = dict(decode(found[1], limit_bytes=10_000).arguments)
            if "stop" in arguments:
                return
            answer = script[0]
            wrapped = (
                wrap_error(answer)
                if isinstance(answer, MemciError)
                else wrap_answer({"answer": answer, "to": arguments["query"]})
            )
            replies.send(arguments["reply"], wrapped)

    thread = Thread(target=serve)
    thread.start()
    yield script
    client.lpush(READ_QUEUE, json.dumps({"body": json.dumps({"task": "t", "kwargs": {"stop": 1}})}))
    thread.join()


def every_error() -> list[MemciError]:
    """Return errors of each class, without and with values in their fields."""
    filled = {
        errors.InvalidInputError: {"field": "messages[3].role"},
        errors.TooLargeError: {"field": "messages"},
        errors.ErasedError: {"field": "messages[1]", "places": (1, 3)},
        errors.RateLimitedError: {"retry_after_s": 2.5},
        errors.BudgetTooSmallError: {"needs": {"system": 12}},
        errors.SmallModelUnavailableError: {"retry_after_s": 3.5},
    }
    found, todo = [], [MemciError]
    while todo:
        kind = todo.pop()
        # No context worker raises the errors that other packages define.
        todo += [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
        fields = {"retry_after_s": 1.5} if issubclass(kind, errors.UnavailableError) else {}
        found += [kind(), kind("said", **filled.get(kind, fields))]
    return found


def test_an_answer_comes_back(reads, answering, client):
    answering.append(7)
    assert reads.call("search", "a", {"query": "q"}) == {"answer": 7, "to": "q"}
    assert client.keys() == []


@pytest.mark.parametrize("error", every_error(), ids=lambda each: f"{type(each).__name__}")
def test_every_error_is_raised_unchanged(reads, answering, error):
    answering.append(error)
    with pytest.raises(MemciError) as raised:
        reads.call("search", "a", {"query": "q"})
    assert type(raised.value) is type(error)
    assert str(raised.value) == str(error)
    assert vars(raised.value) == vars(error)


def test_each_of_many_threads_gets_its_own_answer(reads, answering):
    answering.append(0)
    got = {}

    def ask(number):
        got[number] = [reads.call("search", "a", {"query": number})["to"] for _ in range(10)]

    threads = [Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {number: [number] * 10 for number in range(16)}


def test_a_read_without_an_answer_times_out(app, broker_url, client):
    reads = RedisReads(app, broker_url, 200)
    began = time.monotonic()
    with pytest.raises(ReadTimeoutError):
        reads.call("search", "a", {})
    assert 0.2 <= time.monotonic() - began < 2
    with pytest.raises(ReadTimeoutError):
        reads.call("search", "a", {}, wait_ms=300)
    assert time.monotonic() - began >= 0.7
    reads.close()
    # The message expires, so no worker begins it later.
    headers = json.loads(client.lindex(READ_QUEUE, 0))["headers"]
    assert headers["expires"]


def test_more_reads_than_may_wait_are_refused_at_once(app, broker_url, client):
    reads = BoundedReads(RedisReads(app, broker_url, 3_000), 2)

    def ask():
        with pytest.raises(ReadTimeoutError):
            reads.call("search", "a", {})

    waiting = [Thread(target=ask) for _ in range(2)]
    for thread in waiting:
        thread.start()
    wait_until(lambda: client.llen(READ_QUEUE) == 2, "two reads wait")
    began = time.monotonic()
    with pytest.raises(ReadsBusyError):
        reads.call("search", "a", {})
    assert time.monotonic() - began < 1
    assert client.llen(READ_QUEUE) == 2
    for thread in waiting:
        thread.join()
    ask()  # nothing waits any more
    reads.close()


def test_flower_sees_the_agent_and_not_the_query(app, broker_url, client):
    reads = RedisReads(app, broker_url, 100)
    with pytest.raises(ReadTimeoutError):
        reads.call("search", "a", {"query": "my secret"})
    reads.close()
    headers = json.loads(client.lindex(READ_QUEUE, 0))["headers"]
    assert json.loads(headers["kwargsrepr"]) == {"agent_id": "a"}
    assert "secret" not in json.dumps(headers)


def test_an_answer_that_nobody_fetches_expires(replies, client):
    replies.send(KEY, wrap_answer({}))
    assert 0 < client.ttl(KEY) <= 60


@pytest.mark.parametrize(
    "key", ["memci.agent.a", "memci.lane", "memci.reply.", "memci.reply.x", KEY + "0", KEY + "\n"]
)
def test_answers_are_sent_to_reply_keys_only(replies, client, key):
    with pytest.raises(InvalidInputError):
        replies.send(key, wrap_answer({}))
    assert client.keys() == []


@pytest.mark.parametrize(
    "wrapped",
    [{}, {"error": "ValueError"}, {"error": "annotations"}, {"error": None}, {"error": "nonsense"}],
)
def test_a_malformed_answer_is_an_error(reads, answering, client, replies, wrapped, monkeypatch):
    monkeypatch.setattr("tests.integration.broker.test_read_calls.wrap_answer", lambda _: wrapped)
    answering.append(7)
    with pytest.raises(MemciError, match="its log says why"):
        reads.call("search", "a", {"query": "q"})


def test_an_unavailable_broker_raises_an_error(own_servers):
    with make_producer(own_servers.redis.url) as app:
        reads = RedisReads(app, own_servers.redis.url, 5000)
        own_servers.redis.kill()
        began = time.monotonic()
        with pytest.raises(BrokerUnavailableError) as refused:
            reads.call("search", "a", {})
        assert time.monotonic() - began < 2
        assert "redis://" not in str(refused.value)
        reads.close()
