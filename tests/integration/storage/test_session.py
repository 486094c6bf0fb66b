"""Transactions whose statements go directly to the driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from memci.embedded import Servers
from memci.errors import DatabaseBusyError, DatabaseUnavailableError, UnavailableError
from memci.storage.session import Connection, Database, is_cut, rows, sending
from memci.testing import wait_until

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
        assert _agent(database, "ann") == "ann", "a connection that was cut is not used again"
    finally:
        database.close()


def test_connections_in_use_at_close_are_closed_at_their_return(database_url: str) -> None:
    database = Database(database_url)
    with database.agent_snapshot("ann") as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        database.close()
        assert not driver.closed
    assert driver.closed


def test_a_connection_that_is_being_returned_at_close_is_closed(database_url: str) -> None:
    database = Database(database_url)
    with database.agent_snapshot("ann") as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        event.listen(database.engine, "checkin", lambda *_: database.close(), once=True)
    assert driver.closed


def test_a_statement_timeout_raises_database_busy(database: Database) -> None:
    with (
        pytest.raises(DatabaseBusyError),
        database.agent_snapshot("ann") as connection,
    ):
        rows(connection, "SELECT set_config('statement_timeout', '20ms', true)", ())
        rows(connection, "SELECT pg_sleep(%s)", (5,))
    assert _agent(database, "ann") == "ann"


def _by_sqlalchemy(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)


def _at_the_driver(connection: Connection, statement: str) -> None:
    rows(connection, statement, ())


@pytest.mark.parametrize("run", [_by_sqlalchemy, _at_the_driver])
@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("40001", DatabaseBusyError), ("40P01", DatabaseBusyError), ("55P03", DatabaseBusyError),
        ("40002", DatabaseBusyError), ("55006", DatabaseBusyError),
        ("53200", DatabaseUnavailableError), ("57P03", DatabaseUnavailableError),
        ("58030", DatabaseUnavailableError), ("25006", DatabaseUnavailableError),
        ("25P03", DatabaseUnavailableError), ("25P04", DatabaseUnavailableError),
    ],
)  # fmt: skip
def test_server_errors_not_about_the_statement_raise_memci_errors(
    database: Database,
    run: Callable[[Connection, str], None],
    state: str,
    expected: type[UnavailableError],
) -> None:
    fails = f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"
    with pytest.raises(expected), database.agent_transaction("ann") as connection:
        run(connection, fails)
    assert _agent(database, "ann") == "ann"


@pytest.mark.parametrize("run", [_by_sqlalchemy, _at_the_driver])
@pytest.mark.parametrize("state", ["22003", "42P01", "58P01", "XX000"])
def test_errors_about_the_statement_are_raised_unchanged(
    database: Database, run: Callable[[Connection, str], None], state: str
) -> None:
    fails = f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"
    with (
        pytest.raises((psycopg.Error, DBAPIError)),
        database.agent_transaction("ann") as connection,
    ):
        run(connection, fails)


def test_a_transaction_that_is_idle_for_too_long_is_cut_off(database: Database) -> None:
    with (
        pytest.raises(DatabaseUnavailableError),
        database.agent_transaction("ann") as connection,
    ):
        rows(connection, "SELECT set_config('idle_in_transaction_session_timeout', '1', true)", ())
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        wait_until(lambda: is_cut(driver), "the server has cut it off")
        rows(connection, "SELECT 1", ())
    assert _agent(database, "ann") == "ann"


def test_other_code_runs_while_a_statement_is_sent(database: Database) -> None:
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


def _agent(database: Database, agent: str) -> Any:
    with database.agent_snapshot(agent) as connection:
        return rows(connection, _BOTH, {"agent": agent})[0].seen
