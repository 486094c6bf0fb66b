"""Wakeups are small and fast, and a broker failure does not reach the caller."""

from __future__ import annotations

import time
from contextlib import contextmanager
from threading import Thread

import pytest

from memci.broker.app import make_app, make_producer
from memci.broker.message_decoding import decode
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE
from memci.broker.wakeup import RedisWakeups, Wakeups
from memci.testing import wait_until
from tests.support.servers import frozen


def sent(client, queue):
    messages = [decode(raw, limit_bytes=10_000) for raw in client.lrange(queue, 0, -1)]
    return [(message.task, dict(message.arguments)) for message in messages]


def test_a_wakeup_names_the_agent_to_claim_first(wakeups, client):
    assert wakeups.wake_lane("a")
    assert wakeups.wake_lane("b", queue_seen=True)
    assert wakeups.wake_compress("a")
    assert sent(client, LANE_QUEUE) == [
        ("memci.lane.run", {"agent_id": "b", "queue_seen": True}),
        ("memci.lane.run", {"agent_id": "a"}),
    ]
    assert sent(client, COMPRESS_QUEUE) == [("memci.lane.compress", {"agent_id": "a"})]


@pytest.mark.parametrize("make", [make_app, make_producer])
def test_a_wakeup_creates_no_key_but_the_queue(make, broker_url, client):
    """Nor a subscription to a result, which Celery makes by default."""
    client.config_resetstat()
    with make(broker_url) as app:
        wakeups = Wakeups(app)
        for number in range(20):
            assert wakeups.wake_lane(f"a{number}")
        assert client.keys() == [LANE_QUEUE.encode()]
        assert "cmdstat_subscribe" not in client.info("commandstats")


def test_threads_can_publish_concurrently(wakeups, client):
    threads = [
        Thread(target=lambda: [wakeups.wake_lane("a") for _ in range(20)]) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.llen(LANE_QUEUE) == 320


@contextmanager
def publishing(kind, url):
    with make_producer(url) as app:
        wakeups = kind(app, url) if kind is RedisWakeups else kind(app)
        yield wakeups
        wakeups.close()


@pytest.mark.parametrize("kind", [Wakeups, RedisWakeups])
def test_a_broker_that_is_down_raises_no_error_and_is_retried_after_a_pause(own_servers, kind):
    with publishing(kind, own_servers.redis.url) as wakeups:
        assert wakeups.wake_lane("a")
        own_servers.redis.kill()
        began = time.monotonic()
        assert not wakeups.wake_lane("a")
        assert time.monotonic() - began < 1
        own_servers.redis.start()
        # The broker is up again, but is not used during the pause.
        assert not wakeups.wake_lane("a")
        # It is used again after the pause.
        wait_until(lambda: wakeups.wake_lane("a"), "wakeups are published again", timeout_s=3)


@pytest.mark.parametrize("kind", [Wakeups, RedisWakeups])
def test_a_frozen_broker_does_not_block_callers_for_long(own_servers, kind):
    with publishing(kind, own_servers.redis.url) as wakeups:
        assert wakeups.wake_lane("a")
        with frozen(own_servers.redis):
            began = time.monotonic()
            assert not wakeups.wake_lane("a")
            assert time.monotonic() - began < 5
            began = time.monotonic()
            assert not any(wakeups.wake_lane("a") for _ in range(100))
            assert time.monotonic() - began < 0.5
        wait_until(lambda: wakeups.wake_lane("a"), "wakeups are published again", timeout_s=5)
