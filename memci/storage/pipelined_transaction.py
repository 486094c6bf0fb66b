"""Sends one transaction of one agent as pipelined statements: one round trip, no thread.

Everything else uses ``Database`` (session.py), which needs a thread and four round trips for each
transaction. An API that accepts messages would spend more time on switching threads than on its
SQL.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

import psycopg
from psycopg import AsyncConnection
from sqlalchemy.engine import make_url

from memci.errors import DatabaseBusyError, DatabaseUnavailableError
from memci.storage.session import CONNECT, ENTER, DatabaseRole, is_cut, unavailable_error

# Longer than any statement may take; ends a wait for a server that is frozen.
_PATIENCE_S = 65
_IN_LINE_S = 5
# Statements of one agent wait for each other on its lane's row, which need not block all
# connections.
_OF_ONE_AGENT = 2


class PipelinedStatements:
    """Connections of one event loop; each runs one statement at a time."""

    def __init__(self, url: str, *, most: int = 16) -> None:
        """Take a PostgreSQL URL; connects at first use, with at most ``most`` connections."""
        self._conninfo = (
            make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        )
        self._places = asyncio.Semaphore(most)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._idle: list[AsyncConnection] = []

    async def run(
        self,
        agent_id: str,
        statement: str,
        values: Mapping[str, Any],
        *,
        first: tuple[str, Mapping[str, Any]] | None = None,
    ) -> tuple[Any, ...] | None:
        """Run a statement under the agent's row-level security; return its one row, or None.

        ``first`` is a statement that runs before it, in the same transaction.

        Durable when it returns. Raises, with nothing written, psycopg's ``IntegrityError`` or
        ``DatabaseBusyError``. After a ``DatabaseUnavailableError`` the outcome is unknown.
        """
        async with self._wait_for_slot(agent_id):
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    connection = await self._take_connection()
                    statements = [*filter(None, [first]), (statement, values)]
                    return await self._execute(connection, agent_id, statements)
            except TimeoutError:
                raise DatabaseUnavailableError from None
            except (psycopg.OperationalError, psycopg.InternalError) as error:
                raise unavailable_error(error) or error from error

    async def aclose(self) -> None:
        """Close the connections; another event loop may use the object afterwards."""
        while self._idle:
            await self._idle.pop().close()

    @asynccontextmanager
    async def _wait_for_slot(self, agent_id: str) -> AsyncIterator[None]:
        turn = self._turns.setdefault(agent_id, asyncio.Semaphore(_OF_ONE_AGENT))
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(_IN_LINE_S):
                    await stack.enter_async_context(turn)
                    await stack.enter_async_context(self._places)
            except TimeoutError:
                raise DatabaseBusyError from None
            yield

    async def _take_connection(self) -> AsyncConnection:
        while self._idle:
            connection = self._idle.pop()
            if not is_cut(connection):
                return connection
            await connection.close()
        return await AsyncConnection.connect(self._conninfo, autocommit=True, **CONNECT)

    async def _execute(
        self,
        connection: AsyncConnection,
        agent_id: str,
        statements: Sequence[tuple[str, Mapping[str, Any]]],
    ) -> tuple[Any, ...] | None:
        try:
            # Without BEGIN, all that is sent before the pipeline ends is one transaction.
            async with connection.pipeline():
                await connection.execute(ENTER, (DatabaseRole.APP.value, agent_id, "on"))
                # The server does not receive a statement after one that fails.
                prepare = None if len(statements) == 1 else False
                for statement, values in statements:
                    cursor = await connection.execute(statement, values, prepare=prepare)
            row = await cursor.fetchone()
        except psycopg.IntegrityError:
            self._idle.append(connection)
            raise
        except BaseException:
            # Psycopg may consider a statement prepared that the server never received.
            await connection.close()
            raise
        self._idle.append(connection)
        return row
