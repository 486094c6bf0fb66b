"""Names of queues that producers in other languages use."""

from __future__ import annotations

import pytest

from memci.broker import names
from memci.broker.app import is_redis, make_app, make_producer
from memci.broker.redis_queues import agent_of_key


def test_an_agents_queue_is_named_by_its_id():
    assert names.agent_queue_name("a:1") == "memci.agent.a:1"
    assert agent_of_key(b"memci.agent.a:1") == "a:1"


@pytest.mark.parametrize(
    "key", [b"memci.agent.", b"memci.agent...", b"memci.agent.a/b", b"memci.agent.\xff",
            b"memci.lane", b"other", b"memci.agent." + b"x" * 129, b"memci.agent.a\n"],
)  # fmt: skip
def test_a_key_that_is_no_agents_queue_has_no_agent(key):
    assert agent_of_key(key) is None


def test_queues_use_the_default_exchange():
    queue = names.queue("memci.lane")
    assert (queue.exchange.name, queue.routing_key) == ("", "memci.lane")


@pytest.mark.parametrize(
    ("url", "redis"),
    [("redis://h", True), ("rediss://h", True), ("redis+socket:///s", True), ("amqp://h", False)],
)
def test_redis_is_recognised_by_its_url(url, redis):
    assert is_redis(url) is redis


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "amqp://127.0.0.1:1//"])
def test_apps_accept_json_only_and_every_socket_has_a_timeout(url):
    for app in (make_app(url), make_producer(url)):
        assert app.conf.accept_content == app.conf.result_accept_content == ["json"]
        options = app.conf.broker_transport_options
        assert (options.get("socket_timeout") or options["read_timeout"]) <= 30
        app.close()
