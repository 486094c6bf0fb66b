"""A lease that an erasure ended does not count as a crash; a real crash still counts."""

from __future__ import annotations

from contextlib import closing

import pytest

from memci.config.settings import Settings
from memci.domain.job import JobKind
from memci.queue import mailbox
from memci.queue.lease import Claims, take_back_start
from memci.runtime import Runtime
from tests.support.erasing import Eraser
from tests.support.lanes import messages_of

MAX_STARTED = 3


@pytest.fixture
def settings(database_url, broker_url):
    """Leases are so long that no timer takes back a start in these tests."""
    return Settings(
        database_url=database_url,
        broker_url=broker_url,
        queue_lease_ms=3_600_000,
    )


@pytest.fixture
def loop(settings, handler):
    with closing(Runtime(settings)) as runtime:
        runtime.handlers = {JobKind.CREATE: handler}
        yield runtime.lane_loop("here")


@pytest.fixture
def handler(erase_junk):
    return ErasingHandler(erase_junk)


@pytest.fixture
def claims(database):
    return Claims(database, 3_600_000)


@pytest.fixture
def erase_junk(producer, client):
    """Erase one of the messages that say "junk"."""
    eraser = Eraser(producer.database, producer.wakeups, client, "a")

    def erase():
        junk = [each.id for each in messages_of(producer.database, "a") if each.content == "junk"]
        eraser.erase(junk[0])

    return erase


@pytest.fixture
def fact(producer):
    """A job, followed by more messages to erase than a job may have starts."""
    job_id = producer.append("a", "a fact").job_id
    for _ in range(2 * MAX_STARTED):
        producer.append("a", "junk")
    return job_id


class ErasingHandler:
    """A handler that erases another message of its agent in its first runs."""

    kind = JobKind.CREATE
    triggers_compression = False

    def __init__(self, erase):
        self.erase = erase
        self.cut_short = 2 * MAX_STARTED

    def prepare(self, job):
        if self.cut_short:
            self.cut_short -= 1
            self.erase()
        return lambda _: {}


def begin(claims):
    (claimed,) = claims.claim_due("a", 1).claimed
    return mailbox.begin_next(claimed.lease)


def crash(producer):
    """Expire the lease and wake the lane, as after a crash of the worker."""
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET lease_until = now() - interval '1 s'")
        connection.exec_driver_sql("UPDATE lane SET wake_at = now()")


def test_a_job_that_many_erasures_cut_short_is_done_in_the_end(producer, fact, loop, handler):
    for _ in range(2 * MAX_STARTED):
        loop.run("a")
        waiting = producer.job("a", fact)
        assert (waiting.state, waiting.started) == ("queued", 0)

    loop.run("a")

    assert handler.cut_short == 0
    assert producer.job("a", fact).state == "done"
    assert [each.content for each in messages_of(producer.database, "a")] == ["a fact"]


def test_a_fenced_off_worker_takes_back_no_start_of_another(
    producer, database, fact, claims, erase_junk
):
    fenced_off = begin(claims)
    erase_junk()
    begin(claims)

    take_back_start(database, fenced_off)

    assert producer.job("a", fact).started == 1, "the other one is at it"


def test_a_start_that_killed_its_worker_counts_despite_an_erasure(
    producer, fact, claims, erase_junk
):
    for deaths in range(1, MAX_STARTED + 2):
        assert begin(claims).started == deaths
        crash(producer)
        erase_junk()
        assert producer.job("a", fact).started == deaths


def test_an_erasure_takes_back_one_start_and_no_more(producer, fact, claims, erase_junk):
    begin(claims)
    crash(producer)
    assert begin(claims).started == 2

    for _ in range(2):
        erase_junk()

    assert producer.job("a", fact).started == 1, "the one that its worker did not outlive"
