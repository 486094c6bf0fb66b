"""Whatever lies in an agent's own queue is taken in or buried: nothing blocks the lane."""

from __future__ import annotations

import json

import pytest

from memci.broker.letters import encode, letter_id
from memci.broker.names import CREATE_TASK
from memci.commands import dead_jobs
from memci.domain.message import AppendLimits
from memci.queue import submit
from memci.queue.bridge import take_in
from tests.support import lanes

LIMITS = AppendLimits(1_000_000, 100_000, 50)
MESSAGE = {"role": "user", "content": "hello"}


@pytest.fixture
def producer(database_url, broker_url):
    with lanes.producer(database_url, broker_url) as made:
        yield made


def deliver(producer, raw):
    with producer.database.agent_transaction("a") as connection:
        submit.lock_lane(connection, "a")
        take_in(connection, "a", raw, LIMITS)


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [MESSAGE], "x\x00": 1},
        {"messages": [{**MESSAGE, "x\x00": 1}]},
        {"messages": [MESSAGE], "\ud800": 1},
        {"messages": [{**MESSAGE, "metadata": {"\x00": "\x00"}}]},
        {"messages": [{**MESSAGE, "metadata": {"s\x00": json.loads("[" * 400 + "]" * 400)}}]},
        {"messages": [MESSAGE], "what was said": 1, "y" * 100_000: 2},
    ],
)
def test_a_letter_with_unheard_of_names_is_buried_and_not_quoted(producer, fields):
    arguments = {"agent_id": "a", **fields}
    deliver(producer, encode(CREATE_TASK, "11111111-1111-4111-8111-111111111111", arguments))
    deliver(producer, encode(CREATE_TASK, "2", {"agent_id": "a", "messages": [MESSAGE]}))
    assert producer.states("a") == ["dead", "queued"]
    error = producer.job("a", "11111111-1111-4111-8111-111111111111").last_error
    assert "was said" not in error
    assert len(error) < 2_000


def kept(producer):
    with producer.database.agent_snapshot("a") as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM letter").scalar_one()


def test_a_letter_is_kept_until_it_is_decided_on(producer):
    raw = encode(CREATE_TASK, "1", {"agent_id": "a", "messages": []})
    deliver(producer, raw)
    deliver(producer, raw)
    assert (producer.states("a"), kept(producer)) == (["dead"], 1)
    dead_jobs.discard(producer.database, producer.tokens, "a", letter_id("1", raw))
    assert (producer.states("a"), kept(producer)) == (["cancelled"], 0)
