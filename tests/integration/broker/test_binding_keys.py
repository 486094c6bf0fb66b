"""Removal of the keys that producers leave when they name an agent's queue by a string."""

from __future__ import annotations

import pytest
from celery import Celery

from memci.broker.names import agent_queue_name, queue
from memci.broker.redis_queues import remove_binding_keys


@pytest.fixture
def foreign(broker_url):
    """A producer that knows nothing of memci."""
    with Celery("foreign", broker=broker_url, set_as_current=False) as app:
        yield app


def send(app, target):
    app.send_task("memci.memory.create", kwargs={}, queue=target, ignore_result=True)


def test_a_queue_object_leaves_no_binding_keys(foreign, client):
    name = agent_queue_name("a")
    send(foreign, queue(name))
    assert client.keys() == [name.encode()]


def test_the_binding_keys_of_a_name_are_removed_and_not_needed(foreign, client):
    names = [agent_queue_name(f"a{number}") for number in range(5)]
    for name in names:
        send(foreign, name)
    assert len(client.keys("_kombu.*")) >= 5
    assert remove_binding_keys(client) == 10
    assert client.keys("_kombu.binding*memci.agent.*") == []
    # The producer that made them and another one can still send.
    with Celery("another", broker=foreign.conf.broker_url, set_as_current=False) as another:
        for app in (foreign, another):
            for name in names:
                send(app, name)
    assert [client.llen(name) for name in names] == [3] * 5


def test_binding_keys_of_other_queues_stay(client):
    for key in ("_kombu.binding.celery", "_kombu.binding.memci.agents", "memci.agent.a"):
        client.sadd(key, "x")
    assert remove_binding_keys(client) == 0
    assert len(client.keys()) == 3


def test_thousands_of_binding_keys_are_removed(client):
    with client.pipeline(transaction=False) as pipe:
        for number in range(2500):
            pipe.sadd(f"_kombu.binding.memci.agent.{number}", "x")
        pipe.execute()
    assert remove_binding_keys(client) == 2500
    assert remove_binding_keys(client) == 0
