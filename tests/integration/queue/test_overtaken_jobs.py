"""Jobs that others overtake while they wait still run when they are due (queue.md)."""

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


def claim(producer: Producer) -> Lease:
    (held,) = Claims(producer.database, 30_000).claim_due("ada", 1).claimed
    return held.lease


def begin(lease: Lease) -> Job:
    job = mailbox.begin_next(lease)
    assert job is not None
    return job


def finish(lease: Lease, job: Job) -> None:
    with lease.effect() as connection:
        assert mailbox.finish(connection, job, {})


def fail_next(lease: Lease, kind: str) -> Job:
    """Let a job of this kind fail, so that it waits to be tried again."""
    finish(lease, begin(lease))
    with lease.effect() as connection:
        insert_job(connection, NewJob("ada", kind))
    waiting = begin(lease)
    assert waiting.kind == kind
    with lease.effect() as connection:
        mailbox.count_failure(connection, waiting, attempts=3, error="away", wait_s=1_000)
    return waiting


def free(lease: Lease) -> None:
    with lease.effect() as connection:
        mailbox.free(connection, "ada")


def test_others_overtake_a_job_while_it_waits(producer, kind):
    producer.append("ada")
    lease = claim(producer)
    fail_next(lease, kind)
    producer.append("ada")
    job = begin(lease)
    assert job.kind != kind
    finish(lease, job)
    assert mailbox.begin_next(lease) is None


def test_the_lane_of_a_waiting_job_sleeps_and_wakes_for_others(producer, queues, kind):
    producer.append("ada")
    lease = claim(producer)
    fail_next(lease, kind)
    free(lease)
    lane = producer.lane("ada")
    assert (lane.wake_at, lane.not_before, lane.lease_owner) == (None, None, None)
    assert sweep(producer.database, queues, producer.wakeups).lane == 0
    producer.append("ada")
    assert begin(claim(producer)).kind != kind


def test_the_sweep_replaces_a_lost_wakeup_of_a_job_behind_it(producer, queues, kind):
    producer.append("ada")
    lease = claim(producer)
    fail_next(lease, kind)
    free(lease)
    producer.append("ada")
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET wake_at = NULL")
    with closing(redis.Redis.from_url(producer.celery.conf.broker_url)) as client:
        client.delete("memci.lane")
    assert sweep(producer.database, queues, producer.wakeups).lane == 1
    assert begin(claim(producer)).kind != kind


def test_a_waiting_job_is_woken_and_runs_first_when_it_is_due(producer, queues, kind):
    producer.append("ada")
    lease = claim(producer)
    waiting = fail_next(lease, kind)
    free(lease)
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE job SET not_before = now() - interval '1 second'")
    with closing(redis.Redis.from_url(producer.celery.conf.broker_url)) as client:
        client.delete("memci.lane")
    assert sweep(producer.database, queues, producer.wakeups).lane == 1
    producer.append("ada")
    assert begin(claim(producer)).id == waiting.id
