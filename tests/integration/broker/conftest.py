"""A producer, the agents' queues and wakeups on the Redis of the test."""

from __future__ import annotations

import pytest

from memci.broker.app import make_producer
from memci.broker.redis_queues import RedisAgentQueues
from memci.broker.wakeup import Wakeups


@pytest.fixture
def app(broker_url):
    with make_producer(broker_url) as made:
        yield made


@pytest.fixture
def queues(client):
    return RedisAgentQueues(client)


@pytest.fixture
def wakeups(app):
    return Wakeups(app)
