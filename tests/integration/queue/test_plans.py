"""How many rows the lane's statements read among 10,000 agents (style rule 14).

The server counts the rows, in the transaction that read them. Plans are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import redis
from sqlalchemy import event

from memci.broker.app import make_app
from memci.broker.redis_queues import RedisAgentQueues
from memci.broker.wakeup import Wakeups
from memci.queue import mailbox
from memci.queue.lease import Claims
from memci.queue.sweep import sweep
from memci.storage.diagnosis import lane_gauges
from memci.storage.session import Database
from tests.support.databases import as_owner

AGENTS, BUSY, QUEUED, DONE = 10_000, 10, 300, 3_000
_FILL = """
INSERT INTO lane (agent_id) SELECT 'idle' || n FROM generate_series(1, %(agents)s) AS n;
INSERT INTO lane (agent_id, wake_at) SELECT 'busy' || n, now() FROM generate_series(1, %(busy)s) n;
INSERT INTO job (agent_id, id, kind, payload, source, state, finished_at)
SELECT 'idle' || n, gen_random_uuid(), 'k', '{}', 'http', 'done', now()
FROM generate_series(1, %(agents)s) AS n;
INSERT INTO job (agent_id, id, kind, payload, source, state, finished_at)
SELECT 'busy1', gen_random_uuid(), 'k', '{}', 'http', 'done', now()
FROM generate_series(1, %(done)s) AS n;
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT 'busy' || n, gen_random_uuid(), 'k', '{}', 'http'
FROM generate_series(1, %(queued)s) AS q, generate_series(1, %(busy)s) AS n;
"""
_READ = """
SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
WHERE relname = %s
"""


class Reads:
    """Rows that transactions of a database have read since the last ``clear``."""

    def __init__(self, database: Database) -> None:
        self._observer = database.engine.connect()
        event.listen(database.engine, "checkin", self._report)
        self.clear()

    def close(self) -> None:
        self._observer.close()

    def clear(self) -> None:
        self._before = {table: self._total(table) for table in ("lane", "job")}

    def __getitem__(self, table: str) -> int:
        return self._total(table) - self._before[table]

    def _total(self, table: str) -> int:
        rows = self._observer.exec_driver_sql(_READ, (table,)).scalar_one()
        self._observer.commit()  # the next query sees new numbers
        return int(rows)

    def _report(self, connection: Any, _record: object) -> None:
        """Make the server publish its counts at once."""
        if connection is not None:
            connection.execute("SELECT pg_stat_force_next_flush()")
            connection.commit()


@pytest.fixture(params=["force_generic_plan", "force_custom_plan"])
def crowded(request: pytest.FixtureRequest, database_url: str) -> Iterator[Database]:
    """Ten busy agents among 10,000, with generic or with custom plans."""
    with closing(Database(database_url)) as database:
        _fill(database)

        def set_plan_mode(connection: Any, _record: object) -> None:
            connection.execute(f"SET plan_cache_mode = {request.param}")
            connection.commit()

        event.listen(database.engine, "connect", set_plan_mode)
        database.engine.dispose()
        yield database


def _fill(database: Database) -> None:
    values = {"agents": AGENTS, "busy": BUSY, "done": DONE, "queued": QUEUED}
    with as_owner(database.engine.url) as connection:
        for statement in _FILL.split(";")[:-1]:
            connection.exec_driver_sql(statement, values)
        connection.exec_driver_sql("ANALYZE lane")
        connection.exec_driver_sql("ANALYZE job")
        connection.commit()


@pytest.fixture
def reads(crowded: Database) -> Iterator[Reads]:
    with closing(Reads(crowded)) as counted:
        yield counted


def test_a_claim_reads_only_due_lanes(crowded: Database, reads: Reads) -> None:
    due = Claims(crowded, 30_000).claim_due("busy1", 16)

    assert due.claimed[0].lease.agent_id == "busy1"
    assert reads["lane"] <= 8 * BUSY
    assert reads["job"] == 0


def test_a_job_reads_few_rows_in_a_long_mailbox(crowded: Database, reads: Reads) -> None:
    (claimed, *_) = Claims(crowded, 30_000).claim_due("busy1", 1).claimed
    reads.clear()

    job = mailbox.begin_next(claimed.lease)

    assert job is not None
    assert reads["job"] <= 4
    for _ in range(20):
        reads.clear()
        with claimed.lease.effect() as connection:
            assert mailbox.finish(connection, job, {})
            job = mailbox.begin_head(connection, claimed.lease)
            assert job is not None
        # Dead row versions are read too, until vacuum removes them.
        assert reads["job"] <= 40
        assert reads["lane"] <= 8
    reads.clear()
    with claimed.lease.effect() as connection:
        mailbox.free(connection, "busy1")
    assert reads["job"] <= 40


def test_a_sweep_reads_only_the_first_job_of_each_lane(
    crowded: Database, reads: Reads, broker_url: str
) -> None:
    with crowded.upkeep_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET wake_at = NULL WHERE agent_id = 'busy1'")
    with closing(redis.Redis.from_url(broker_url)) as client, make_app(broker_url) as app:
        swept = sweep(crowded, RedisAgentQueues(client), Wakeups(app))

    assert swept.lane == BUSY
    assert reads["job"] <= 3 * BUSY
    assert reads["lane"] <= 5 * (AGENTS + BUSY)


def test_gauges_read_only_queued_jobs(crowded: Database, reads: Reads) -> None:
    with crowded.upkeep_transaction() as connection:
        gauges = lane_gauges(connection, stale_s=60)

    assert gauges["queued_jobs"] == BUSY * QUEUED
    assert reads["job"] <= BUSY * QUEUED
    assert reads["lane"] <= AGENTS + BUSY
