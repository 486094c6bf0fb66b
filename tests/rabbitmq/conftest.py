"""Tests against a RabbitMQ that is given by URL: ``make test-rabbitmq`` (apart from the rest).

The server's queues of memci are emptied before each test.
"""

from __future__ import annotations

import os
from contextlib import suppress
from uuid import uuid4

import pytest
from amqp import NotFound
from kombu import pools

from memci.broker.app import make_producer
from memci.broker.names import (
    ANNOUNCE_QUEUE,
    COMPRESS_QUEUE,
    LANE_QUEUE,
    READ_QUEUE,
    UPKEEP_QUEUE,
    agent_queue_name,
)
from memci.broker.rabbitmq_queues import AmqpAgentQueues
from memci.broker.wakeup import Wakeups

URL = os.environ.get("MEMCI_TEST_RABBITMQ_URL")
collect_ignore_glob = [] if URL else ["test_*"]

_OURS = (ANNOUNCE_QUEUE, COMPRESS_QUEUE, LANE_QUEUE, READ_QUEUE, UPKEEP_QUEUE)


@pytest.fixture
def agents():
    """Three agents of whom the broker has never heard."""
    prefix = uuid4().hex[:8]
    return [f"{prefix}-{number}" for number in range(3)]


@pytest.fixture
def agent(agents):
    return agents[0]


@pytest.fixture
def broker_url(agents):
    """The RabbitMQ, with our own queues empty."""
    assert URL is not None
    with make_producer(URL) as app, app.connection_for_write() as connection:
        for name in _OURS:
            with suppress(NotFound):
                connection.channel().queue_purge(name)
        yield URL
        for each in agents:
            connection.channel().queue_delete(agent_queue_name(each))
    pools.reset()


@pytest.fixture
def app(broker_url):
    with make_producer(broker_url) as made:
        yield made


@pytest.fixture
def queues(app):
    made = AmqpAgentQueues(app, list, heartbeat_s=5)
    yield made
    made.close()


@pytest.fixture
def wakeups(app):
    return Wakeups(app)
