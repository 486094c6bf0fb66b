"""Dry runs: transactions that are rolled back, to try reads."""

from __future__ import annotations

import pytest

from memci.storage.session import Database

_LANE = "INSERT INTO lane (agent_id) VALUES ('ada')"
_COUNT = "SELECT count(*) FROM lane"


def lanes(database: Database) -> int:
    with database.lane_transaction() as connection:
        return int(connection.exec_driver_sql(_COUNT).scalar_one())


def test_writes_exist_until_the_transaction_ends(database: Database) -> None:
    dry = database.dry_run()
    for begin in (dry.lane_transaction, lambda: dry.agent_transaction("ada", durable=False)):
        with begin() as connection:
            connection.exec_driver_sql(_LANE)
            assert connection.exec_driver_sql(_COUNT).scalar_one() == 1
        assert lanes(database) == 0
    with database.lane_transaction() as connection:
        connection.exec_driver_sql(_LANE)
    assert lanes(dry) == 1


def test_a_pipelined_statement_is_refused(database: Database) -> None:
    with pytest.raises(TypeError, match="cannot be rolled back"):
        database.dry_run().run_on_lanes("SELECT 1", {})
