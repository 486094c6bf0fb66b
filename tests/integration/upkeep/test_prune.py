"""Old jobs and receipts are removed, and others are not read each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

import pytest
from sqlalchemy import event

from memci.queue.sweep import prune_ended_jobs
from memci.reading.deferred_writes import ReadActivity
from memci.storage.receipts import NewReceipt, write_receipt
from memci.storage.session import Database
from memci.upkeep.duties import prune_receipts
from tests.support.databases import as_owner
from tests.support.rows_read import rows_read

HOUR_S = 3600.0
_FILL = """
INSERT INTO job (agent_id, id, kind, payload, source, state, finished_at)
SELECT 'a' || n %% 7, gen_random_uuid(), 'k', '{}', 'http', %s, now() - %s * interval '1 hour'
FROM generate_series(1, %s) AS n
"""


def fill(database: Database, state: str, *, hours: float | None, count: int) -> None:
    with database.lane_transaction() as connection:
        connection.exec_driver_sql(_FILL, (state, hours, count))


def jobs(database: Database) -> dict[str, int]:
    with database.lane_transaction() as connection:
        rows = connection.exec_driver_sql("SELECT state, count(*) FROM job GROUP BY state").all()
    return {row[0]: row[1] for row in rows}


class TestDoneJobs:
    def test_ended_jobs_are_removed_when_they_are_old(self, database: Database):
        for state in ("done", "cancelled", "dead"):
            fill(database, state, hours=0.5, count=3)
            fill(database, state, hours=2, count=5)
        fill(database, "queued", hours=None, count=4)
        assert prune_ended_jobs(database, keep_s=HOUR_S) == 10
        assert jobs(database) == {"done": 3, "cancelled": 3, "dead": 8, "queued": 4}
        assert prune_ended_jobs(database, keep_s=HOUR_S) == 0

    def test_an_empty_table_is_no_error(self, database: Database):
        assert prune_ended_jobs(database, keep_s=HOUR_S) == 0

    def test_the_whole_table_is_read_once(self, database: Database):
        fill(database, "done", hours=0.5, count=60_000)
        fill(database, "done", hours=2, count=20_000)
        read = rows_read(database, "job")
        assert prune_ended_jobs(database, keep_s=HOUR_S) == 20_000
        assert sum(read) == 80_000
        assert jobs(database) == {"done": 60_000}


@contextmanager
def opened_agents(database: Database) -> Iterator[set[str]]:
    """Yield the set of agents for whom transactions are opened."""
    opened: set[str] = set()

    def record(
        connection: object, cursor: object, statement: str, values: Sequence[str], *_: object
    ) -> None:
        if statement.startswith("SELECT set_config('role'"):
            opened.add(values[1])

    event.listen(database.engine, "before_cursor_execute", record)
    yield opened
    event.remove(database.engine, "before_cursor_execute", record)


class TestReceipts:
    """Receipts are written as reads write them: first the receipt, then the time of the read."""

    @pytest.fixture(autouse=True)
    def agents(self, database: Database) -> None:
        with database.lane_transaction() as connection:
            connection.exec_driver_sql(
                "INSERT INTO lane (agent_id) SELECT 'a' || n FROM generate_series(1, 20) AS n"
            )

    def assemble(self, database: Database, agent_id: str, *, hours: float, count: int = 1) -> None:
        with database.agent_transaction(agent_id) as connection:
            for _ in range(count):
                write_receipt(connection, agent_id, NewReceipt(uuid4(), "context", {}))
            connection.exec_driver_sql(
                "UPDATE receipt SET created_at = now() - %s * interval '1 hour'"
                " WHERE agent_id = %s AND created_at = now()",
                (hours, agent_id),
            )
        activity = ReadActivity(database)
        activity.note(agent_id)
        activity.close()
        with database.lane_transaction() as connection:
            connection.exec_driver_sql(
                "UPDATE lane SET receipts_from = least(receipts_from, now() - %s * interval"
                " '1 hour') WHERE agent_id = %s",
                (hours, agent_id),
            )

    def receipts(self, database: Database, agent_id: str) -> int:
        with database.agent_snapshot(agent_id) as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM receipt").scalar_one())

    def test_old_receipts_of_every_agent_are_removed(self, database: Database):
        for agent_id in ("a1", "a2"):
            self.assemble(database, agent_id, hours=2, count=3)
            self.assemble(database, agent_id, hours=0.5)
        assert prune_receipts(database, keep_s=HOUR_S) == 6
        assert [self.receipts(database, each) for each in ("a1", "a2")] == [1, 1]

    def test_agents_without_old_receipts_are_skipped(self, database: Database):
        self.assemble(database, "a1", hours=2)
        self.assemble(database, "a2", hours=0.5)
        for expected in ({"", "a1"}, {""}):
            with opened_agents(database) as opened:
                prune_receipts(database, keep_s=HOUR_S)
            assert opened == expected

    def test_an_agent_is_skipped_until_a_receipt_is_old_enough(self, database: Database):
        self.assemble(database, "a1", hours=1.05)
        assert prune_receipts(database, keep_s=HOUR_S) == 0
        self.assemble(database, "a1", hours=1.15)
        assert prune_receipts(database, keep_s=HOUR_S) == 2

    def test_new_receipts_are_found_after_all_were_removed(self, database: Database):
        self.assemble(database, "a1", hours=2)
        assert prune_receipts(database, keep_s=HOUR_S) == 1
        self.assemble(database, "a1", hours=2)
        assert prune_receipts(database, keep_s=HOUR_S) == 1

    def test_several_batches_are_removed_in_one_call(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("memci.upkeep.duties._RECEIPTS_AT_ONCE", 10)
        self.assemble(database, "a1", hours=2, count=25)
        assert prune_receipts(database, keep_s=HOUR_S) == 25

    def test_receipts_that_stay_are_not_read(self, database: Database, database_url: str):
        for agent_id in ("a1", "a2"):
            self.assemble(database, agent_id, hours=2, count=5)
            self.assemble(database, agent_id, hours=0.5, count=1_000)
        with as_owner(database_url) as owner:
            owner.exec_driver_sql("ANALYZE receipt")
        read = rows_read(database, "receipt")
        assert prune_receipts(database, keep_s=HOUR_S) == 10
        assert sum(read) < 100

    def test_pruning_does_not_wait_for_a_locked_lane(self, database: Database):
        self.assemble(database, "a1", hours=2)
        with database.lane_transaction() as connection:
            connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'a1' FOR UPDATE")
            assert prune_receipts(database, keep_s=HOUR_S) == 1
        with opened_agents(database) as opened:
            assert prune_receipts(database, keep_s=HOUR_S) == 0
        assert opened == {"", "a1"}, "it is looked at once more, and then no more"
        with opened_agents(database) as opened:
            prune_receipts(database, keep_s=HOUR_S)
        assert opened == {""}
