"""Lanes that were claimed and not reached are given back, however the turn ends."""

from __future__ import annotations

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Event

import pytest
from sqlalchemy.exc import ProgrammingError

from memci.broker.message_decoding import encode
from memci.broker.names import COMPRESS_TASK, agent_queue_name
from memci.commands import jobs
from memci.config.settings import Settings
from memci.domain.job import JobKind
from memci.errors import DatabaseUnavailableError
from memci.runtime import Runtime
from memci.smallmodel.usage_account import current_account
from memci.testing import wait_until
from tests.support.databases import as_owner
from tests.support.erasing import Eraser
from tests.support.lanes import messages_of


@pytest.fixture
def runtime(database_url, broker_url):
    with closing(Runtime(Settings(database_url=database_url, broker_url=broker_url))) as made:
        yield made


@pytest.fixture
def due(producer):
    """Ten lanes with a job each."""
    for number in range(10):
        producer.append(f"a{number}")
    return producer


def lanes_where(producer, condition):
    with producer.database.lane_transaction() as connection:
        rows = connection.exec_driver_sql(f"SELECT agent_id FROM lane WHERE {condition}")
        return sorted(rows.scalars())


class FailingHandler:
    """A handler that calls ``then`` and loses the database."""

    kind = JobKind.CREATE
    triggers_compression = False

    def __init__(self, then=lambda: None):
        self.then = then

    def prepare(self, job):
        self.then()
        raise DatabaseUnavailableError


class Answer:
    """An answer of a model."""


class AnsweredHandler:
    """A handler that has an answer of a model when it calls ``then``."""

    kind = JobKind.CREATE
    triggers_compression = False

    def __init__(self, then):
        self.then = then
        self.answer = None

    def prepare(self, job):
        answer = Answer()
        self.answer = weakref.ref(answer)
        current_account().answers["asked"] = answer
        self.then(job)
        return lambda _: {}


class WaitingHandler:
    """A handler whose jobs run until they may end."""

    kind = JobKind.CREATE
    triggers_compression = False

    def __init__(self):
        self.may_end = Event()
        self.began = []

    def prepare(self, job):
        self.began.append(job.agent_id)
        assert self.may_end.wait(60)
        return lambda _: {}


def append_lost(producer, agent_id, *, starts):
    """A job that was started without an outcome."""
    job_id = producer.append(agent_id).job_id
    with producer.database.agent_transaction(agent_id) as connection:
        values = (starts, agent_id)
        connection.exec_driver_sql("UPDATE job SET started = %s WHERE agent_id = %s", values)
    return job_id


@contextmanager
def running_beside(runtime, producer):
    """Run a job of the agent ``beside`` during the block; yield the loop, its threads, and it."""
    job = WaitingHandler()
    runtime.handlers = {JobKind.CREATE: job}
    producer.append("beside")
    loop = runtime.lane_loop("here")
    with ThreadPoolExecutor() as threads:
        try:
            threads.submit(loop.run, "beside")
            wait_until(lambda: job.began == ["beside"], "the job beside runs")
            yield loop, threads, job
        finally:
            job.may_end.set()


def test_a_lost_job_that_waits_to_be_alone_goes_back_when_the_worker_stops(runtime, producer):
    with running_beside(runtime, producer) as (loop, threads, job):
        job_id = append_lost(producer, "lost", starts=2)
        turn = threads.submit(loop.run, "lost")
        wait_until(lambda: producer.job("lost", job_id).started_at, "the lost job was begun")
        runtime.stopping.set()
        turn.result(60)
        assert job.began == ["beside"]
        assert producer.job("lost", job_id).started == 2
        assert lanes_where(producer, "lease_owner IS NOT NULL") == ["beside"]
        assert lanes_where(producer, "wake_at IS NOT NULL") == ["lost"]


def test_a_job_over_the_limit_of_starts_does_not_wait_to_be_alone(runtime, producer):
    with running_beside(runtime, producer) as (loop, _, job):
        append_lost(producer, "lost", starts=runtime.job_limits.started)
        began = time.monotonic()
        loop.run("lost")
        assert time.monotonic() - began < 5
        assert job.began == ["beside"]
        assert producer.states("lost") == ["dead"]


def test_a_start_is_taken_back_when_the_database_fails_before_it(
    producer, database_url, broker_url
):
    job_id = append_lost(producer, "lost", starts=2)
    settings = Settings(database_url=database_url, broker_url=broker_url, queue_lease_ms=1_000)
    with closing(Runtime(settings)) as runtime, as_owner(database_url) as owner:
        owner.exec_driver_sql(
            "CREATE FUNCTION go_away() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'away' USING ERRCODE = 'admin_shutdown'; END $$"
        )
        owner.exec_driver_sql(
            "CREATE TRIGGER away BEFORE UPDATE ON job FOR EACH ROW"
            " WHEN (new.started < old.started) EXECUTE FUNCTION go_away()"
        )
        with pytest.raises(DatabaseUnavailableError):
            runtime.lane_loop("here").run("lost")
        assert producer.job("lost", job_id).started == 3
        owner.exec_driver_sql("DROP TRIGGER away ON job")
        wait_until(lambda: producer.job("lost", job_id).started == 2, "the start is taken back")


def test_answers_of_models_are_released_after_their_job(runtime, producer, client):
    def cancel(job):
        jobs.cancel(producer.database, producer.wakeups, "a", job.id)

    def erase(job):
        messages = [each.id for each in messages_of(producer.database, "a")]
        Eraser(producer.database, producer.wakeups, client, "a").erase(*messages)

    runtime.handlers = {}
    loop = runtime.lane_loop("here")
    for then in (lambda _: None, cancel, erase):
        job = AnsweredHandler(then)
        runtime.handlers[JobKind.CREATE] = job
        producer.append("a")
        loop.run("a")
        gc.collect()
        assert job.answer is not None
        assert job.answer() is None
    assert messages_of(producer.database, "a") == []


def test_a_worker_that_stops_keeps_no_lane(runtime, due, client):
    client.lpush(agent_queue_name("rung"), b"{}")
    loop = runtime.lane_loop("here")
    runtime.stopping.set()

    assert loop.run("rung", queue_seen=True) == 0

    assert lanes_where(due, "lease_owner IS NOT NULL") == []
    assert lanes_where(due, "wake_at IS NULL") == ["rung"]


def test_a_worker_whose_job_loses_the_database_keeps_only_that_lane(runtime, due):
    runtime.handlers = {JobKind.CREATE: FailingHandler()}

    with pytest.raises(DatabaseUnavailableError):
        runtime.lane_loop("here").run("a5")

    assert lanes_where(due, "lease_owner IS NOT NULL") == ["a5"]
    assert lanes_where(due, "fence > 0") == ["a0", "a5"]


def test_a_wakeup_of_the_queue_watch_that_fails_keeps_no_lane(runtime, due, client, database_url):
    client.lpush(agent_queue_name("rung"), b"{}")
    with as_owner(database_url) as owner:
        owner.exec_driver_sql("REVOKE INSERT ON lane FROM memci_app")

    with pytest.raises(ProgrammingError):
        runtime.lane_loop("here").run("rung", queue_seen=True)

    assert lanes_where(due, "lease_owner IS NOT NULL") == []
    assert lanes_where(due, "wake_at IS NULL") == []


def test_lanes_that_cannot_be_given_back_hide_no_error(runtime, due, database_url):
    def forbid():
        with as_owner(database_url) as owner:
            owner.exec_driver_sql("REVOKE UPDATE ON lane FROM memci_app")

    runtime.handlers = {JobKind.CREATE: FailingHandler(forbid)}

    with pytest.raises(DatabaseUnavailableError):
        runtime.lane_loop("here").run("a5")


def test_a_compression_request_creates_no_agent(runtime, producer, client):
    request = encode(COMPRESS_TASK, "1", {"agent_id": "ghost"})
    client.lpush(agent_queue_name("ghost"), request)
    assert runtime.lane_loop("here").run("ghost", queue_seen=True) == 0
    assert not client.exists(agent_queue_name("ghost"))
    assert lanes_where(producer, "true") == []


def test_an_invalid_message_creates_an_agent_with_a_dead_job(runtime, producer, client):
    client.lpush(agent_queue_name("ghost"), b"bad")
    runtime.lane_loop("here").run("ghost", queue_seen=True)
    assert lanes_where(producer, "true") == ["ghost"]
    assert producer.states("ghost") == ["dead"]
