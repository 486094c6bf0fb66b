"""Jobs that others overtake while they wait come to their turn (queue.md)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
import redis

from memci.broker.redis_queues import RedisAgentQueues
from memci.domain.job import Job
from memci.queue import mailbox
from memci.queue.lease import Claims, Lease
from memci.queue.mailbox import NewJob, insert_job
from memci.queue.sweep import sweep
from tests.support.lanes import Producer

KINDS = (
    "memci.document.index", "memci.item.index", "memci.message.track", "memci.page.name",
    "memci.session.summarise",
)  # fmt: skip


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def queues(broker_url: str) -> Iterator[RedisAgentQueues]:
    with closing(redis.Redis.from_url(broker_url)) as client:
        yield RedisAgentQueues(client)


def claimed(producer: Producer) -> Lease:
    (held,) = Claims(producer.database, 30_000).claim_due("ada", 1).claimed
    return held.lease


def begun(lease: Lease) -> Job:
    job = mailbox.begin_next(lease)
    assert job is not None
    return job


def finish(lease: Lease, job: Job) -> None:
    with lease.effect() as connection:
        assert mailbox.finish(connection, job, {})


def waits(lease: Lease, kind: str) -> Job:
    """Have such a job fail, after the message that led to it."""
    finish(lease, begun(lease))
    with lease.effect() as connection:
        insert_job(connection, NewJob("ada", kind))
    aside = begun(lease)
    assert aside.kind == kind
    with lease.effect() as connection:
        mailbox.back_off(connection, aside, attempts=3, error="away", wait_s=1_000)
    return aside


def free(lease: Lease) -> None:
    with lease.effect() as connection:
        mailbox.free(connection, "ada")


def test_others_overtake_it_while_it_waits(producer, kind):
    producer.append("ada")
    lease = claimed(producer)
    waits(lease, kind)
    producer.append("ada")
    job = begun(lease)
    assert job.kind != kind
    finish(lease, job)
    assert mailbox.begin_next(lease) is None


def test_the_lane_sleeps_beside_it_and_wakes_for_others(producer, queues, kind):
    producer.append("ada")
    lease = claimed(producer)
    waits(lease, kind)
    free(lease)
    lane = producer.lane("ada")
    assert (lane.wake_at, lane.not_before, lane.lease_owner) == (None, None, None)
    assert sweep(producer.database, queues, producer.wakeups).lane == 0
    producer.append("ada")
    assert begun(claimed(producer)).kind != kind


def test_a_lost_wakeup_of_a_job_behind_it_is_missed(producer, queues, kind):
    producer.append("ada")
    lease = claimed(producer)
    waits(lease, kind)
    free(lease)
    producer.append("ada")
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET wake_at = NULL")
    with closing(redis.Redis.from_url(producer.celery.conf.broker_url)) as client:
        client.delete("memci.lane")
    assert sweep(producer.database, queues, producer.wakeups).lane == 1
    assert begun(claimed(producer)).kind != kind


def test_when_its_time_has_come_it_is_woken_and_runs_in_its_turn(producer, queues, kind):
    producer.append("ada")
    lease = claimed(producer)
    aside = waits(lease, kind)
    free(lease)
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE job SET not_before = now() - interval '1 second'")
    with closing(redis.Redis.from_url(producer.celery.conf.broker_url)) as client:
        client.delete("memci.lane")
    assert sweep(producer.database, queues, producer.wakeups).lane == 1
    producer.append("ada")
    assert begun(claimed(producer)).id == aside.id
