"""Wakeups that are lost, doubled, reordered or delivered late have no effect (queue.md)."""

from __future__ import annotations

import random
from contextlib import closing

import redis

from memci.broker.names import CREATE_TASK, LANE_QUEUE, agent_queue_name, queue
from memci.broker.redis_queues import RedisAgentQueues
from memci.queue.sweep import sweep
from memci.testing import wait_until

TRACE = "00-" + "1" * 32 + "-" + "2" * 16 + "-01"


def test_doubled_and_reordered_wakeups_have_no_effect(producer, fleet, upkeep):
    for _ in range(40):
        producer.append("a", wait_ms=5)
        producer.append("b", wait_ms=5)
    wakeups = ["a", "b"] * 100
    random.Random(1).shuffle(wakeups)
    for agent in wakeups:
        producer.wakeups.wake_lane(agent)
        producer.wakeups.wake_compress(agent)
    fleet.start("memci.lane", ready=False)
    fleet.start("memci.lane")
    fleet.start("memci.compress")
    producer.wait_drained(["a", "b"])
    assert producer.effects("a") == producer.effects("b") == list(range(1, 41))


def test_a_wakeup_for_an_unknown_agent_creates_no_lane(producer, fleet, broker_url):
    producer.append("a")
    producer.wakeups.wake_lane("stranger")
    fleet.start("memci.lane")
    producer.wait_drained(["a"])
    with producer.database.lane_transaction() as connection:
        rows = connection.exec_driver_sql("SELECT agent_id FROM lane").all()
    assert [row[0] for row in rows] == ["a"]


def test_a_sweep_publishes_missing_wakeups_once(producer, broker_url):
    with closing(redis.Redis.from_url(broker_url)) as client:
        queues = RedisAgentQueues(client)
        for agent in "abc":
            producer.append(agent)
        assert sweep(producer.database, queues, producer.wakeups).lane == 0
        client.delete("memci.lane")
        assert sweep(producer.database, queues, producer.wakeups).lane == 3
        assert sweep(producer.database, queues, producer.wakeups).lane == 0
        assert client.llen("memci.lane") == 3


def test_a_sweep_skips_locked_lanes(producer, broker_url):
    with closing(redis.Redis.from_url(broker_url)) as client:
        queues = RedisAgentQueues(client)
        for agent in "ab":
            producer.append(agent)
        with producer.database.lane_transaction() as connection:
            connection.exec_driver_sql("UPDATE lane SET wake_at = NULL, compress_req = 1")
        client.delete("memci.lane")
        with producer.database.lane_transaction() as holding:
            holding.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'a' FOR UPDATE")
            swept = sweep(producer.database, queues, producer.wakeups)
        assert (swept.lane, swept.compress) == (1, 1)
        swept = sweep(producer.database, queues, producer.wakeups)
        assert (swept.lane, swept.compress) == (1, 1)


def test_a_wakeup_that_is_redelivered_late_is_dropped(producer, fleet, broker_url):
    """As after a visibility timeout, the same wakeup comes again while the slice runs."""
    fleet.start("memci.lane", ready=False)
    fleet.start("memci.lane")
    for _ in range(10):
        producer.append("a", wait_ms=50)
    for _ in range(5):
        producer.wakeups.wake_lane("a")
    producer.wait_drained(["a"])
    assert producer.effects("a") == list(range(1, 11))


def test_a_worker_may_subscribe_to_one_agent(producer, fleet, upkeep):
    """Its tasks go through the mailbox in order; an invalid one becomes a dead job."""
    name = agent_queue_name("a")
    producer.append("a", wait_ms=50)
    for content in ("one", "two", None, "three"):
        messages = [{"role": "user", "content": content}]
        producer.celery.send_task(
            CREATE_TASK, kwargs={"agent_id": "a", "messages": messages}, queue=queue(name),
            headers={"traceparent": TRACE}, ignore_result=True,
        )  # fmt: skip
    fleet.start(name)
    wait_until(lambda: len(producer.states("a")) == 5, "all are taken in", timeout_s=20)
    with producer.database.lane_transaction() as connection:
        traces = connection.exec_driver_sql("SELECT traceparent FROM job WHERE source = 'celery'")
        assert traces.scalars().all().count(TRACE) == 3
    producer.wait_drained(["a"])
    assert producer.effects("a") == [1, 2, 3, 4]
    assert sorted(producer.states("a")) == ["dead", "done", "done", "done", "done"]


def test_a_message_on_the_shared_queue_reaches_its_agent(producer, fleet):
    messages = [{"role": "user", "content": "one"}]
    producer.celery.send_task(
        CREATE_TASK, kwargs={"agent_id": "a", "messages": messages}, queue=queue(LANE_QUEUE),
        ignore_result=True,
    )  # fmt: skip
    fleet.start(LANE_QUEUE)
    wait_until(lambda: producer.effects("a") == [1], "it was done", timeout_s=20)
    with producer.database.lane_transaction() as connection:
        assert connection.exec_driver_sql("SELECT agent_id FROM lane").scalars().all() == ["a"]
