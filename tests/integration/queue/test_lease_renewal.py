"""Leases are renewed as long as they are held, also after errors."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from memci.queue import mailbox
from memci.queue.lease import Claims, LeaseRenewal
from memci.testing import wait_until
from tests.support import lanes

LEASE_MS = 60_000


@pytest.fixture
def claims(database):
    return Claims(database, LEASE_MS)


@pytest.fixture
def renewal(database, claims):
    with closing(LeaseRenewal(database, claims, renew_ms=20)) as made:
        yield made


def lease_until(database):
    with database.lane_transaction() as connection:
        return connection.exec_driver_sql("SELECT lease_until FROM lane").scalar_one()


def cancel_renewal(connection):
    return connection.execute(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).fetchone()


def test_renewals_continue_after_the_database_has_refused_one(
    database_url, database, claims, renewal
):
    plain = database_url.replace("+psycopg", "", 1)
    lease = claims.claim_named("a").lease
    with psycopg.connect(plain, autocommit=True) as login, renewal.renewing([lease]):
        with database.lane_transaction() as blocking:
            blocking.exec_driver_sql("SELECT 1 FROM lane FOR UPDATE")
            wait_until(lambda: cancel_renewal(login), "a renewal waited for the lane")
        before = lease_until(database)
        wait_until(lambda: lease_until(database) > before, "the lease is renewed again")


def test_a_start_that_the_process_survived_is_taken_back(
    database_url, database, claims, renewal, broker_url
):
    with lanes.producer(database_url, broker_url) as producer:
        waiting = producer.append("a")
        lease = claims.claim_named("a").lease
        starts = [mailbox.begin_next(lease) for _ in range(3)]
        with renewal.renewing([lease]):
            for _ in range(2):
                renewal.take_back_later(starts[-1])
            wait_until(lambda: producer.job("a", waiting.job_id).started == 1, "two are taken back")
