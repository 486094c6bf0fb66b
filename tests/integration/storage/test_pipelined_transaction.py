"""Pipelined transactions of single agents, many at once on one event loop (M21)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import Any

import psycopg
import pytest

from memci.embedded import Servers
from memci.errors import DatabaseBusyError, DatabaseUnavailableError
from memci.storage.pipelined_transaction import PipelinedStatements
from memci.storage.session import Database
from memci.testing import wait_until
from tests.support.databases import as_owner

_TOUCH = "UPDATE lane SET written_at = now() WHERE agent_id = %(agent)s RETURNING agent_id"
_IMPATIENT = "SELECT set_config('lock_timeout', '1ms', false)"
_ADD = """
INSERT INTO message (agent_id, seq, id, role, content, said_at, remember, memory_state)
VALUES (%(agent)s, %(seq)s, %(id)s, 'user', 'hello', now(), 'now', 'pending') RETURNING seq
"""
_COUNT = "SELECT count(*) FROM message"
_WHOSE = (
    "SELECT current_user::text, current_setting('memci.agent'), pg_backend_pid(),"
    " current_setting('synchronous_commit')"
)


def create_lane(database: Database, agent: str) -> None:
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES (%s)", (agent,))


@contextmanager
def locked(database: Database, agent: str) -> Iterator[None]:
    with database.agent_transaction(agent) as connection:
        connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = %s FOR UPDATE", (agent,))
        yield


def message(agent: str, seq: int = 1) -> dict[str, Any]:
    return {"agent": agent, "seq": seq, "id": f"id-{seq}"}


def test_a_transaction_belongs_to_its_agent_and_is_durable(database_url: str) -> None:
    async def check() -> tuple[Any, ...]:
        async with aclosing(PipelinedStatements(database_url)) as pipelined:
            return await pipelined.run("ann", _WHOSE, {})

    role, agent, _, durable = asyncio.run(check())
    assert (role, agent, durable) == ("memci_app", "ann", "on")


def test_an_agent_sees_and_writes_only_its_own_rows(database_url: str, database: Database) -> None:
    for agent in ("ann", "bob"):
        create_lane(database, agent)

    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url, most=1)) as pipelined:
            assert await pipelined.run("ann", _ADD, message("ann")) == (1,)
            assert await pipelined.run("bob", _COUNT, {}) == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await pipelined.run("bob", _ADD, message("ann", 2))
            assert await pipelined.run("ann", _COUNT, {}) == (1,)

    asyncio.run(check())


def test_a_failed_statement_is_rolled_back_and_keeps_the_connection(
    database_url: str, database: Database
) -> None:
    create_lane(database, "ann")

    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url, most=1)) as pipelined:
            *_, before, _ = await pipelined.run("ann", _WHOSE, {})
            for _ in range(8):  # from the sixth on, the statement is a prepared one
                with pytest.raises(psycopg.IntegrityError):
                    await pipelined.run(
                        "ann", f"WITH first AS ({_ADD}) {_ADD}", message("ann")
                    )  # the same row twice
            assert await pipelined.run("ann", _COUNT, {}) == (0,)
            *_, after, _ = await pipelined.run("ann", _WHOSE, {})
            assert after == before

    asyncio.run(check())


def test_transactions_that_wait_for_a_lock_do_not_block_other_agents(
    database_url: str, database: Database
) -> None:
    create_lane(database, "ann")

    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url)) as pipelined:
            with locked(database, "ann"):
                waiting = [
                    asyncio.create_task(pipelined.run("ann", _TOUCH, {"agent": "ann"}))
                    for _ in range(20)
                ]
                others = [pipelined.run(f"a{n}", _COUNT, {}) for n in range(50)]
                assert await asyncio.gather(*others) == [(0,)] * 50
                assert not any(each.done() for each in waiting)
            assert await asyncio.gather(*waiting) == [("ann",)] * 20

    asyncio.run(check())


def test_a_connection_that_a_restart_has_cut_is_replaced(own_servers: Servers) -> None:
    async def check(url: str) -> None:
        async with aclosing(PipelinedStatements(url)) as pipelined:
            assert await pipelined.run("ann", _COUNT, {}) == (0,)
            own_servers.postgres.stop()
            with pytest.raises(DatabaseUnavailableError):
                await pipelined.run("ann", _COUNT, {})
            own_servers.postgres.start()
            assert await pipelined.run("ann", _COUNT, {}) == (0,)
            own_servers.postgres.stop()
            own_servers.postgres.start()
            assert await pipelined.run("ann", _COUNT, {}) == (0,), "although it was idle meanwhile"

    asyncio.run(check(own_servers.postgres.url))


def test_a_cancelled_transaction_ends_on_the_server(database_url: str, database: Database) -> None:
    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url, most=1)) as pipelined:
            await pipelined.run("ann", _COUNT, {})
            slow = asyncio.create_task(pipelined.run("ann", "SELECT pg_sleep(30)", {}))
            await asyncio.to_thread(wait_until, lambda: sleepers(database) == 1, "it flies")
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            assert await pipelined.run("bob", _COUNT, {}) == (0,)
            await asyncio.to_thread(wait_until, lambda: sleepers(database) == 0, "it has ended")

    asyncio.run(check())


def sleepers(database: Database) -> int:
    with database.engine.connect() as connection:
        return connection.exec_driver_sql(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query = 'SELECT pg_sleep(30)'"
            " AND state = 'active'"
        ).scalar_one()


def test_an_idle_connection_has_no_agent_and_no_role(database_url: str) -> None:
    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url, most=1)) as pipelined:
            for statement in (_COUNT, "SELECT 1 / 0"):
                with suppress(psycopg.DataError):
                    await pipelined.run("ann", statement, {})
                async with aclosing(PipelinedStatements(database_url, most=1)) as fresh:
                    await fresh.run("bob", _COUNT, {})
                    for each in (*pipelined._idle, *fresh._idle):
                        cursor = await each.execute(_WHOSE)
                        row = await cursor.fetchone()
                        assert row is not None
                        role, agent, *_ = row
                        assert (role != "memci_app", agent) == (True, "")

    asyncio.run(check())


def test_a_connection_is_usable_after_a_statement_could_not_be_prepared(
    database_url: str, database: Database
) -> None:
    create_lane(database, "ann")

    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url, most=1)) as pipelined:
            for seq in range(1, 6):  # the sixth would be prepared
                await pipelined.run("ann", _ADD, message("ann", seq))
            await pipelined.run("ann", _IMPATIENT, {})
            with as_owner(database_url) as connection:
                connection.exec_driver_sql("BEGIN")
                connection.exec_driver_sql("LOCK TABLE message IN ACCESS EXCLUSIVE MODE")
                with pytest.raises(DatabaseBusyError):
                    await pipelined.run("ann", _ADD, message("ann", 6))
            for seq in range(7, 15):
                assert await pipelined.run("ann", _ADD, message("ann", seq)) == (seq,)

    asyncio.run(check())


def test_a_lock_timeout_raises_database_busy(database_url: str, database: Database) -> None:
    create_lane(database, "ann")

    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url, most=1)) as pipelined:
            await pipelined.run("ann", _IMPATIENT, {})
            with locked(database, "ann"), pytest.raises(DatabaseBusyError):
                await pipelined.run("ann", _TOUCH, {"agent": "ann"})
            assert await pipelined.run("ann", _TOUCH, {"agent": "ann"}) == ("ann",)

    asyncio.run(check())


_FAILS = "DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{}'; END $$"


@pytest.mark.parametrize("state", ["25006", "25P03", "57P03", "58030"])
def test_server_errors_not_about_the_statement_raise_database_unavailable(
    database_url: str, database: Database, state: str
) -> None:
    async def check() -> None:
        async with aclosing(PipelinedStatements(database_url, most=1)) as pipelined:
            await pipelined.run("ann", _FAILS.format(state), {})

    with pytest.raises(DatabaseUnavailableError):
        asyncio.run(check())
    with pytest.raises(DatabaseUnavailableError):
        database.run_on_lanes(_FAILS.format(state), {})


def test_a_lock_timeout_in_other_transactions_raises_database_busy(database: Database) -> None:
    create_lane(database, "ann")
    with (
        locked(database, "ann"),
        pytest.raises(DatabaseBusyError),
        database.agent_transaction("ann") as connection,
    ):
        connection.exec_driver_sql("SET LOCAL lock_timeout = '1ms'")
        connection.exec_driver_sql(_TOUCH, {"agent": "ann"})
