"""Transactions on the database: each names the agent whose rows it may use (M21).

``agent_transaction``  content of one agent, under row-level security
``agent_snapshot``     the same, read-only, and all statements see one moment
``lane_transaction``   lanes and jobs only; no agent is set, so content tables look empty
``run_on_lanes``       the same for one statement, in one round trip
``upkeep_transaction`` lanes and heads of jobs of all agents, no text

Opening a transaction and any statement raise ``DatabaseUnavailableError`` if the database does not
answer, and ``DatabaseBusyError`` after waiting too long for other transactions.

``memci_owner`` owns the tables and runs migrations; ``memci_app`` works under row-level
security; ``memci_upkeep`` sees lanes and heads of jobs of all agents, and no text. None of them
can log in: a login role that was granted them sets one for each transaction, so one URL is enough
and nothing depends on the state of a pooled connection.
"""

import select
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from enum import StrEnum
from itertools import islice
from typing import Any, Self, TypeVar, cast

import psycopg
from psycopg.rows import namedtuple_row
from sqlalchemy import Connection, Engine, PoolProxiedConnection, create_engine, exc
from sqlalchemy.engine import make_url
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from memci.errors import (
    DatabaseBusyError,
    DatabaseUnavailableError,
    UnavailableError,
)


class DatabaseRole(StrEnum):
    """The role of a transaction."""

    OWNER = "memci_owner"
    APP = "memci_app"
    UPKEEP = "memci_upkeep"


# The type of the transactions, for modules without SQL.
__all__ = ["Connection", "Database", "batches", "rows", "sending", "tuples"]

T = TypeVar("T")

_SNAPSHOT: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
ENTER = (
    "SELECT set_config('role', %s, true), set_config('memci.agent', %s, true),"
    " set_config('synchronous_commit', %s, true)"
)
# A rebuilt network is in tables of the same names, in a schema that is searched first (M24).
_USE_EDITION = """
SELECT set_config('search_path', 'memci_edition, ' || current_setting('search_path'), true)
"""
_PATH = "SELECT current_setting('search_path')"
_SET_PATH = "SELECT set_config('search_path', %s, true)"
# Reads differ widely in the rows that they read (ten links or ten thousand): a generic plan is
# often many times slower than a custom one.
_ENTER_SNAPSHOT = ENTER + ", set_config('plan_cache_mode', 'force_custom_plan', true)"
# Other statements look up rows by keys and limits. Planning a search takes longer than running most
# of it, and its plan by indexes is right for all agents, even while tables are small.
_ENTER_PLANNED = (
    ENTER + ", set_config('plan_cache_mode', 'force_generic_plan', true),"
    " set_config('enable_seqscan', 'off', true)"
)
# Threads cannot be killed, so statements, locks and idle transactions have time limits.
_OPTIONS = (
    "-c statement_timeout=60000 -c lock_timeout=20000"
    " -c idle_in_transaction_session_timeout=60000 -c jit=off -c timezone=UTC"
    # Many small statements run in parallel: one on all cores would only delay the others.
    " -c max_parallel_workers_per_gather=0"
)
CONNECT: dict[str, Any] = {
    "application_name": "memci",
    "connect_timeout": 5,
    "options": _OPTIONS,
}


class Database:
    """A pool of connections and the ways to open a transaction on it; safe for threads."""

    _uses_edition = False
    _commits = True

    def __init__(self, url: str, *, pool_size: int = 8) -> None:
        """Take a PostgreSQL URL; connects when first used."""
        self.engine: Engine = create_engine(
            make_url(url).set(drivername="postgresql+psycopg"),
            # Errors must not quote messages.
            hide_parameters=True,
            pool_size=pool_size,
            max_overflow=8,
            pool_timeout=5,
            pool_recycle=1800,
            # Few connections are busy, and those have prepared the frequent statements.
            pool_use_lifo=True,
            connect_args=CONNECT,
        )
        self._closed = threading.Event()

    def on_edition(self) -> Self:
        """Return a copy for networks that are rebuilt beside the current ones (M24).

        Its transactions read and write nodes, links, focus points, trails and passes of the rebuilt
        network; everything else is the same. Both share the pool.
        """
        database = copy(self)
        database._uses_edition = True  # noqa: SLF001 - our own
        return database

    def dry_run(self) -> Self:
        """Return a copy whose transactions are rolled back at their end; both share the pool.

        For trials of reads, which leave no trace of a read.
        """
        database = copy(self)
        database._commits = False  # noqa: SLF001 - our own
        return database

    def agent_transaction(
        self, agent_id: str, *, durable: bool = True
    ) -> AbstractContextManager[Connection]:
        """Open a transaction on one agent's rows.

        With ``durable=False`` its commit does not wait for the disk: only for changes that a crash
        of the database may undo without harm.
        """
        return self._transaction(DatabaseRole.APP, agent_id, durable=durable)

    def agent_snapshot(
        self, agent_id: str, *, planned: bool = False
    ) -> AbstractContextManager[Connection]:
        """Open a read-only transaction in which every statement sees the same moment.

        ``planned``: its statements are planned once for all agents, and use indexes.
        """
        enter = _ENTER_PLANNED if planned else _ENTER_SNAPSHOT
        return self._transaction(DatabaseRole.APP, agent_id, enter=enter, snapshot=True)

    def lane_transaction(self, *, durable: bool = True) -> AbstractContextManager[Connection]:
        """Open a transaction on lanes and jobs."""
        return self._transaction(DatabaseRole.APP, "", durable=durable)

    def run_on_lanes(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run one statement on lanes and jobs as a whole transaction, in one round trip.

        Its commit does not wait for the disk. Returns its rows. Raises psycopg's errors, except
        where the other methods raise our own.
        """
        if not self._commits:
            raise TypeError("this statement cannot be rolled back: open a transaction")
        with self._using_pool():
            driver, pooled = self._live_connection()
            try:
                # Without BEGIN, all that is sent before the pipeline ends is one transaction.
                driver.autocommit = True
                with driver.pipeline():
                    driver.execute(ENTER, (DatabaseRole.APP.value, "", "off"))
                    cursor = driver.execute(statement, values)
                driver.autocommit = False
                return cursor.fetchall()
            except BaseException:
                # Psycopg may consider a statement prepared that the server never received.
                pooled.invalidate()
                raise
            finally:
                pooled.close()

    def upkeep_transaction(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees all lanes and no content."""
        return self._transaction(DatabaseRole.UPKEEP, "")

    def close(self) -> None:
        """Close the pooled connections now, and those in use when they are returned."""
        self._closed.set()
        self.engine.pool.dispose()

    @contextmanager
    def _using_pool(self) -> Iterator[None]:
        """Raise our own errors, and close what was returned after ``close``."""
        try:
            with own_errors():
                yield
        finally:
            if self._closed.is_set():
                self.engine.pool.dispose()

    @contextmanager
    def _transaction(
        self,
        role: DatabaseRole,
        agent_id: str,
        *,
        durable: bool = True,
        snapshot: bool = False,
        enter: str = ENTER,
    ) -> Iterator[Connection]:
        with self._using_pool():
            # Psycopg needs as much time for a member of an enumeration as for a statement.
            settings = (role.value, agent_id, "on" if durable else "off")
            connection = self._enter(enter, settings, snapshot=snapshot)
            with connection:
                yield connection
                if self._commits:
                    connection.commit()

    def _live_connection(self) -> tuple[psycopg.Connection, PoolProxiedConnection]:
        while True:
            pooled = self.engine.raw_connection()
            driver = cast("psycopg.Connection", pooled.driver_connection)
            if not is_cut(driver):
                return driver, pooled
            pooled.invalidate()
            pooled.close()

    def _enter(self, enter: str, settings: tuple[str, str, str], *, snapshot: bool) -> Connection:
        """Begin a transaction; replace a connection once if a restart of the server cut it."""
        try:
            return self._begin(enter, settings, snapshot=snapshot)
        except exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise
            return self._begin(enter, settings, snapshot=snapshot)

    def _begin(self, enter: str, settings: tuple[str, str, str], *, snapshot: bool) -> Connection:
        connection = self.engine.connect()
        try:
            if snapshot:
                connection = connection.execution_options(**_SNAPSHOT)
            connection.exec_driver_sql(enter, settings)
            if self._uses_edition:
                connection.exec_driver_sql(_USE_EDITION)
        except BaseException:
            connection.close()
            raise
        return connection


def rows(connection: Connection, statement: str, values: Mapping[str, Any] | Sequence[Any]) -> Any:
    """Run a statement of an open transaction in the driver; return its rows, as named tuples.

    For statements of every read: SQLAlchemy takes longer to describe a result than many statements
    take to run. Column names must be distinct. Raises the driver's errors, which the transaction
    translates like SQLAlchemy's.
    """
    driver = cast("psycopg.Connection", connection.connection.driver_connection)
    with driver.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute(statement, values).fetchall()


def tuples(connection: Connection, statement: str, values: Mapping[str, Any]) -> list[Any]:
    """Do as ``rows``; columns have positions and no names, which is faster for hundreds of rows."""
    driver = cast("psycopg.Connection", connection.connection.driver_connection)
    with driver.cursor() as cursor:
        return cursor.execute(statement, values).fetchall()


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield values in lists of at most ``size``, to limit the values of one statement."""
    left = iter(values)
    while some := list(islice(left, size)):
        yield some


@contextmanager
def sending(connection: Connection, statement: str, values: Sequence[Any]) -> Iterator[None]:
    """Run a statement without reading its rows while the block does something else.

    Raises the driver's errors at the end of the block, which may hold no other statement.
    """
    driver = cast("psycopg.Connection", connection.connection.driver_connection)
    with driver.pipeline():
        driver.execute(statement, values)
        yield


@contextmanager
def use_edition(connection: Connection) -> Iterator[None]:
    """Let the statements of a transaction use the rebuilt network until the block ends (M24)."""
    path = connection.exec_driver_sql(_PATH).scalar_one()
    connection.exec_driver_sql(_USE_EDITION)
    yield
    connection.exec_driver_sql(_SET_PATH, (path,))


def is_cut(driver: psycopg.Connection | psycopg.AsyncConnection) -> bool:
    """Return True if the server has ended an idle connection, which the driver does not report.

    A pipeline must not be retried, since it may have arrived.
    """
    poll = select.poll()
    poll.register(driver.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def own_errors() -> Iterator[None]:
    """Turn errors of an unavailable server into our own, without SQL and address."""
    try:
        yield
    except PoolTimeoutError as error:
        raise DatabaseUnavailableError(
            "all database connections are busy; try again in a moment"
        ) from error
    except (exc.OperationalError, exc.InterfaceError, exc.InternalError) as error:
        if error.connection_invalidated:
            raise DatabaseUnavailableError from error
        raise unavailable_error(error.orig) or error from error
    except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
        raise unavailable_error(error) or error from error


# A lock or a statement took too long, or is in use; a deadlock, or another transaction was first.
_BUSY = ("55P03", "55006", "57014", "40001", "40002", "40P01")
# The server is stopping or starting, unreachable, or out of resources or disk; we were idle for too
# long in a transaction; another server is the primary now.
_AWAY = ("57P", "08", "53", "58000", "58030", "25P03", "25P04", "25006")


def unavailable_error(error: BaseException | None) -> UnavailableError | None:
    """Return our own error for a driver error that is not about the statement, else None."""
    state = getattr(error, "sqlstate", None)
    if state is None:  # the server did not answer, unless the driver has an internal error
        return None if isinstance(error, psycopg.InternalError) else DatabaseUnavailableError()
    if str(state).startswith(_AWAY):
        return DatabaseUnavailableError()
    return DatabaseBusyError() if str(state).startswith(_BUSY) else None
