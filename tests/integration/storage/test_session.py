"""Transactions whose statements go to the driver itself."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from memci.embedded import Servers
from memci.errors import DatabaseBusyError, DatabaseUnavailableError
from memci.storage.lookup import Lookup
from memci.storage.session import Database, look_up, rows, sending

_BOTH = "SELECT %(agent)s::text AS agent_id, current_setting('memci.agent') AS seen"

_ADD = """
INSERT INTO message (agent_id, seq, id, role, content, said_at, remember, memory_state)
VALUES ('ann', 1, 'm', 'user', 'hello', now(), 'now', 'pending')
"""


def test_rows_have_names_and_are_the_agents_own(database: Database) -> None:
    with database.agent_transaction("ann") as connection:
        connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES ('ann')")
        connection.exec_driver_sql(_ADD)
    for agent, stored in (("ann", 1), ("bob", 0)):
        with database.agent_snapshot(agent) as connection:
            (row,) = rows(connection, _BOTH, {"agent": agent})
            assert (row.agent_id, row.seen) == (agent, agent)
            (counted,) = rows(connection, "SELECT count(*) AS stored FROM message", ())
            assert counted.stored == stored


def test_a_server_that_goes_away_in_the_middle_of_a_read_is_unavailable(
    own_servers: Servers,
) -> None:
    database = Database(own_servers.postgres.url)
    try:
        with (
            pytest.raises(DatabaseUnavailableError),
            database.agent_snapshot("ann") as connection,
        ):
            own_servers.postgres.stop()
            rows(connection, _BOTH, {"agent": "ann"})
        own_servers.postgres.start()
        assert _looks(database, "ann") == "ann", "a connection that was cut is not used again"
    finally:
        database.close()


def test_who_waits_too_long_is_told_that_it_is_busy(database: Database) -> None:
    with (
        pytest.raises(DatabaseBusyError),
        database.agent_snapshot("ann") as connection,
    ):
        rows(connection, "SELECT set_config('statement_timeout', '20ms', true)", ())
        rows(connection, "SELECT pg_sleep(%s)", (5,))
    assert _looks(database, "ann") == "ann"


def test_what_is_looked_up_with_the_opening_is_of_the_same_agent_and_moment(
    database: Database,
) -> None:
    with database.agent_transaction("ann") as connection:
        connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES ('ann')")
        connection.exec_driver_sql(_ADD)
    # More often than it takes until a statement is prepared.
    for _ in range(8):
        seen, stored = _seen_as("ann"), _stored()
        with (
            database.agent_snapshot("ann", seen, stored, planned=True) as connection,
            database.agent_transaction("ann") as beside,
        ):
            beside.exec_driver_sql("DELETE FROM message")
            assert (seen.answer(), stored.answer()) == ("ann", 1)
            assert look_up(connection, _stored()) == 1
            assert look_up(beside, _stored()) == 0
            beside.rollback()
    unseen = _stored()
    with database.agent_snapshot("bob", unseen):
        assert unseen.answer() == 0


def test_rebuilt_networks_are_looked_up_behind_their_doors(database: Database) -> None:
    add = "INSERT INTO focus (agent_id, node_id, mentioned) VALUES ('ann', 1, 1)"
    with database.beside().agent_transaction("ann") as connection:
        connection.exec_driver_sql(add)
    for doors, there in ((database, 0), (database.beside(), 1)):
        found = Lookup("SELECT count(*) AS found FROM focus", (), lambda rows: rows[0].found)
        with doors.agent_snapshot("ann", found):
            assert found.answer() == there


def test_an_opening_that_is_refused_leaves_the_pool_as_it_was(database: Database) -> None:
    wrong = Lookup("SELECT no_such_column FROM message", (), len)
    for _ in range(20):  # more than there are pooled connections
        with pytest.raises(psycopg.errors.UndefinedColumn), database.agent_snapshot("ann", wrong):
            pass
    assert _looks(database, "ann") == "ann"


def test_a_lock_that_is_held_too_long_refuses_the_opening(database: Database) -> None:
    lock = "SELECT pg_advisory_xact_lock(7)"
    with database.agent_transaction("ann") as connection:
        connection.exec_driver_sql(lock)
        soon = Lookup("SELECT set_config('lock_timeout', '20ms', true)", (), len)
        with (
            pytest.raises(DatabaseBusyError),
            database.agent_transaction("bob", soon, Lookup(lock, (), len)),
        ):
            pass


def test_a_statement_runs_while_something_else_is_done(database: Database) -> None:
    add = "INSERT INTO lane (agent_id) VALUES (%s)"
    done = []
    with (
        database.agent_transaction("ann") as connection,
        sending(connection, add, ("ann",)),
    ):
        done.append("meanwhile")
    assert done == ["meanwhile"]
    with (
        pytest.raises(psycopg.errors.UniqueViolation),
        database.agent_transaction("ann") as connection,
        sending(connection, add, ("ann",)),
    ):
        done.append("in vain")
    with (
        pytest.raises(ZeroDivisionError),
        database.agent_transaction("bob") as connection,
        sending(connection, add, ("bob",)),
    ):
        done.append(str(1 / 0))
    with database.lane_transaction() as connection:
        lanes = connection.exec_driver_sql("SELECT agent_id FROM lane").scalars()
        assert list(lanes) == ["ann"], "what fails, or is given up, leaves nothing"


def _seen_as(agent: str) -> Lookup[str]:
    return Lookup(_BOTH, {"agent": agent}, lambda found: str(found[0].seen))


def _stored() -> Lookup[int]:
    return Lookup("SELECT count(*) AS stored FROM message", (), lambda found: int(found[0].stored))


def _looks(database: Database, agent: str) -> Any:
    with database.agent_snapshot(agent) as connection:
        return rows(connection, _BOTH, {"agent": agent})[0].seen
