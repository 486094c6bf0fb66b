"""Wakeups are normal Celery messages, whichever way they are published."""

from __future__ import annotations

import base64
import json
import socket
import time
from contextlib import closing

import pytest

from memci.broker.app import make_app
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE
from memci.broker.wakeup import MAX_LANE_WAKEUPS, RedisWakeups, Wakeups


@pytest.fixture
def app(broker_url):
    with make_app(broker_url) as made:
        yield made


def published(client, queue):
    (raw,) = client.lrange(queue, 0, -1)
    client.delete(queue)
    message = json.loads(raw)
    message["body"] = json.loads(base64.b64decode(message["body"]))
    ids = {message["headers"].pop(key) for key in ("id", "root_id")}
    ids.add(message["properties"].pop("correlation_id"))
    assert len(ids) == 1
    assert message["properties"].pop("delivery_tag") not in ids
    message["properties"].pop("reply_to")  # belongs to the app
    return message


@pytest.mark.parametrize(
    ("queue", "publish"),
    [
        (LANE_QUEUE, lambda wakeups: wakeups.wake_lane("ada")),
        (LANE_QUEUE, lambda wakeups: wakeups.wake_lane("ada", queue_seen=True)),
        (COMPRESS_QUEUE, lambda wakeups: wakeups.wake_compress("ada")),
    ],
)
def test_a_wakeup_of_memci_is_like_one_that_celery_sends(app, client, broker_url, queue, publish):
    assert publish(Wakeups(app))
    expected = published(client, queue)

    with closing(RedisWakeups(app, broker_url)) as wakeups:
        assert publish(wakeups)

    assert published(client, queue) == expected


def test_publishing_creates_no_key_but_the_queue(app, client, broker_url):
    with closing(RedisWakeups(app, broker_url)) as wakeups:
        wakeups.wake_lane("ada")

    assert client.keys() == [LANE_QUEUE.encode()]


def test_publishing_without_a_broker_returns_false(app):
    with closing(RedisWakeups(app, "redis://127.0.0.1:1/0")) as wakeups:
        assert not wakeups.wake_lane("ada")


def hints(client, queue):
    """Return the agents of the waiting wakeups, the next one first."""
    bodies = [base64.b64decode(json.loads(raw)["body"]) for raw in client.lrange(queue, 0, -1)]
    return [json.loads(body)[1]["agent_id"] for body in reversed(bodies)]


def test_the_number_of_waiting_wakeups_is_limited(app, client, broker_url):
    with closing(RedisWakeups(app, broker_url)) as wakeups:
        for _ in range(MAX_LANE_WAKEUPS + 5):
            assert wakeups.wake_lane("ada")

    assert client.llen(LANE_QUEUE) == MAX_LANE_WAKEUPS


def test_wakeups_of_the_queue_watch_are_never_left_out_and_come_first(app, client, broker_url):
    with closing(RedisWakeups(app, broker_url)) as wakeups:
        for number in range(MAX_LANE_WAKEUPS):
            wakeups.wake_lane(f"a{number}")
        wakeups.wake_lane("rung", queue_seen=True)

    assert hints(client, LANE_QUEUE)[:2] == ["rung", "a0"]


def test_compression_wakeups_are_all_published(app, client, broker_url):
    with closing(RedisWakeups(app, broker_url)) as wakeups:
        for number in range(MAX_LANE_WAKEUPS + 5):
            wakeups.wake_compress(f"a{number}")

    assert client.llen(COMPRESS_QUEUE) == MAX_LANE_WAKEUPS + 5


def test_a_broker_that_never_answers_does_not_block_publishers(app):
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        url = f"redis://127.0.0.1:{frozen.getsockname()[1]}/0"
        with closing(RedisWakeups(app, url)) as wakeups:
            began = time.monotonic()
            assert not wakeups.wake_lane("ada")
            assert not wakeups.wake_lane("ada"), "it is left alone for a while"
            assert time.monotonic() - began < 5
