"""Beat requests jobs only for the agents whose short terms are over (R5)."""

from __future__ import annotations

import pytest

from memci.domain.job import JobKind
from memci.queue.sweep import request_due_consolidations
from memci.storage.session import Database
from tests.support.plans import analyze
from tests.support.rows_read import rows_read

_FILL = """
INSERT INTO lane (agent_id, message_seq, expire_at)
SELECT %s || n, 1, now() + %s * interval '1 hour' FROM generate_series(1, %s) AS n
"""


def fill(database: Database, name: str, *, hours: float | None, count: int) -> None:
    with database.lane_transaction() as connection:
        connection.exec_driver_sql(_FILL, (name, hours, count))


def requested(database: Database) -> list[str]:
    with database.lane_transaction() as connection:
        rows = connection.exec_driver_sql(
            "SELECT agent_id FROM job WHERE kind = %s AND state = 'queued' AND source = 'beat'"
            " ORDER BY agent_id",
            (JobKind.CONSOLIDATE,),
        )
        return [row[0] for row in rows]


def test_only_due_agents_get_a_job_and_only_one(database: Database):
    fill(database, "due", hours=-1, count=2)
    fill(database, "later", hours=1, count=2)
    fill(database, "never", hours=None, count=2)
    assert request_due_consolidations(database) == 2
    assert requested(database) == ["due1", "due2"]
    assert request_due_consolidations(database) == 0, "a second beat does no harm"
    with database.lane_transaction() as connection:
        woken = connection.exec_driver_sql(
            "SELECT agent_id FROM lane WHERE wake_at IS NOT NULL ORDER BY 1"
        )
        assert [row[0] for row in woken] == ["due1", "due2"]


def test_a_job_that_died_is_requested_again_later(database: Database):
    fill(database, "due", hours=-1, count=1)
    assert request_due_consolidations(database) == 1
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET expire_at = expire_at - interval '61 minutes'")
    assert request_due_consolidations(database) == 1
    assert requested(database) == ["due1"], "while one waits there is no second one"
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE job SET state = 'dead'")
        connection.exec_driver_sql("UPDATE lane SET expire_at = expire_at - interval '61 minutes'")
    assert request_due_consolidations(database) == 1
    assert requested(database) == ["due1"]


def test_a_locked_lane_is_left_for_the_next_time(database: Database):
    fill(database, "due", hours=-1, count=2)
    with database.lane_transaction() as holding:
        holding.exec_driver_sql("SELECT 1 FROM lane WHERE agent_id = 'due1' FOR UPDATE")
        assert request_due_consolidations(database) == 1
    assert request_due_consolidations(database) == 1
    assert requested(database) == ["due1", "due2"]


@pytest.mark.timeout(120)
def test_only_the_due_of_a_hundred_thousand_agents_are_read(database: Database):
    fill(database, "later", hours=1, count=100_000)
    fill(database, "due", hours=-1, count=40)
    analyze(database, "lane")
    read = rows_read(database, "lane")
    assert request_due_consolidations(database) == 40
    assert sum(read) < 500
