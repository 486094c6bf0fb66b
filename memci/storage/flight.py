"""One statement of one agent as a whole transaction, in one flight and without a thread.

``Database`` (session.py) is the door for everything else: it asks for a thread and four round
trips for each transaction. An API that accepts messages would spend more time on changing threads
than on its SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus
from sqlalchemy.engine import make_url

from memci.errors import DatabaseUnavailableError
from memci.storage.roles import DatabaseRole
from memci.storage.session import CONNECT, ENTER, is_answer, is_cut

# Longer than any statement may take; it ends a wait for a server that is frozen.
_PATIENCE_S = 65
_IN_LINE_S = 5
# The server answered that it cannot do it now: a lock or a statement took too long, a deadlock.
_BUSY = frozenset({"55P03", "57014", "40P01"})


class Flights:
    """Connections of one event loop; each is used by one flight at a time."""

    def __init__(self, url: str, *, most: int = 16) -> None:
        """Take a PostgreSQL URL; connects when first used, at most so many times."""
        self._conninfo = (
            make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        )
        self._places = asyncio.Semaphore(most)
        self._idle: list[AsyncConnection] = []

    async def run(
        self, agent_id: str, statement: str, values: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Run a statement under the agent's row-level security; return its one row.

        Durable when it returns. Raises psycopg's ``IntegrityError`` with nothing written, and
        ``DatabaseUnavailableError``; whether anything was written is then unknown.
        """
        async with self._place(), self._connection() as connection:
            # Without BEGIN, all that is sent before the pipeline ends is one transaction.
            async with connection.pipeline():
                await connection.execute(ENTER, (DatabaseRole.APP, agent_id, "on"))
                cursor = await connection.execute(statement, values)
            row = await cursor.fetchone()
        if row is None:
            raise RuntimeError("the statement of a flight returns a row")
        return row

    async def aclose(self) -> None:
        """Close the connections; another loop will do."""
        while self._idle:
            await self._idle.pop().close()

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(_IN_LINE_S):
                await self._places.acquire()
        except TimeoutError:
            raise DatabaseUnavailableError(
                "all database connections are busy; try again in a moment"
            ) from None
        try:
            yield
        finally:
            self._places.release()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection]:
        """Lend a connection; one that is not as good as new afterwards is closed."""
        connection = None
        try:
            async with asyncio.timeout(_PATIENCE_S):
                connection = await self._take()
                yield connection
        except TimeoutError:
            raise DatabaseUnavailableError from None
        except psycopg.OperationalError as error:
            if is_answer(error) and error.sqlstate not in _BUSY:
                raise
            raise DatabaseUnavailableError from error
        finally:
            if connection is not None:
                await self._put_back(connection)

    async def _take(self) -> AsyncConnection:
        while self._idle:
            connection = self._idle.pop()
            if not is_cut(connection):
                return connection
            await connection.close()
        return await AsyncConnection.connect(self._conninfo, autocommit=True, **CONNECT)

    async def _put_back(self, connection: AsyncConnection) -> None:
        if connection.pgconn.transaction_status == TransactionStatus.IDLE:
            self._idle.append(connection)
        else:
            await connection.close()
