"""Decisions about single jobs take effect at once, whatever the lane is waiting for."""

from __future__ import annotations

import pytest

from memci.commands import jobs
from memci.domain.job import JobKind
from memci.message import AppendLimits
from memci.queue import lane_control, mailbox
from memci.queue.lease import Claims
from tests.support.databases import as_owner
from tests.support.rows_read import rows_read

LIMITS = AppendLimits(1_000_000, 100_000, 50)


@pytest.fixture
def claims(producer):
    return Claims(producer.database, 30_000)


def end_head(claims, end):
    """Begin the first job, end it with ``end``, and free the lane."""
    (claimed,) = claims.claim_due("a", 1).claimed
    job = mailbox.begin_next(claimed.lease)
    with claimed.lease.effect() as connection:
        end(connection, job)
        mailbox.free(connection, "a")
    return job


def back_off(connection, job):
    mailbox.count_failure(connection, job, attempts=1, error="no answer", wait_s=3600)


def bury(connection, job):
    lane_control.bury(connection, job, "a bug", halt=False)


def test_the_next_job_does_not_wait_for_a_cancelled_one(producer, claims):
    producer.append("a")
    following = producer.append("a")
    waiting = end_head(claims, back_off)
    assert not claims.claim_due("a", 1).claimed
    jobs.cancel(producer.database, producer.wakeups, "a", waiting.id)
    assert end_head(claims, bury).id == following.job_id


def test_a_replayed_job_does_not_wait_for_a_later_one(producer, claims):
    producer.append("a")
    producer.append("a")
    dead = end_head(claims, bury)
    end_head(claims, back_off)
    assert not claims.claim_due("a", 1).claimed
    jobs.replay(producer.database, producer.wakeups, "a", dead.id, at_tail=False, limits=LIMITS)
    assert end_head(claims, bury).id == dead.id


def test_decisions_about_other_jobs_do_not_shorten_a_back_off(producer, claims):
    producer.append("a")
    other = producer.append("a")
    end_head(claims, back_off)
    jobs.cancel(producer.database, producer.wakeups, "a", other.job_id)
    (claimed,) = claims.claim_due("a", 1).claimed
    assert mailbox.begin_next(claimed.lease) is None


def test_cancelling_reads_none_of_the_jobs_that_are_done(producer, database_url):
    appended = producer.append("a")
    producer.append("a")
    with as_owner(database_url) as owner:
        owner.exec_driver_sql(
            "INSERT INTO job (agent_id, id, kind, payload, source, state, first_seq, last_seq)"
            " SELECT 'a', gen_random_uuid(), %s, '{}', 'http', 'done', 1, 2"
            " FROM generate_series(1, 3000)",
            (JobKind.CREATE,),
        )
        owner.exec_driver_sql("ANALYZE job")
    read = rows_read(producer.database, "job")
    with producer.database.agent_transaction("a") as connection:
        lane_control.cancel(connection, "a", appended.job_id)
    assert sum(read) < 50
    assert producer.states("a")[:2] == ["cancelled", "queued"]
