"""Health checks for operators: is the database ready, may we use it, does the queue move.

Alembic takes long to import, so only the functions that compare revisions import it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from memci.errors import ConfigurationError, DatabaseUnavailableError, UnavailableError
from memci.storage.session import Database, DatabaseRole
from memci.telemetry.metrics import LANE_GAUGES

_TIMEOUT_S = 5
_OLDEST = (16,)  # GRANT … WITH SET; pgvector's halfvec


@dataclass(frozen=True, slots=True)
class Revisions:
    """The schema's revision and the one that this release needs."""

    current: str | None
    needed: str

    @property
    def fits(self) -> bool:
        """True for the schema of this release, or of a later one, with which this release works."""
        return self.current is not None and self.current >= self.needed


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The state of the database as a login sees it."""

    version: int  # the major one
    superuser: bool
    vector: str | None  # version of the extension
    missing_roles: tuple[str, ...]  # that do not exist
    forbidden_roles: tuple[str, ...]  # that parts take on, and this login may not
    may_own: bool  # whether this login may become the owner of the tables
    revisions: Revisions


@dataclass(frozen=True, slots=True)
class Standstill:
    """Agents whose lanes stand still, a few of each kind, and their jobs."""

    halted: Sequence[str]  # by a dead job
    paused: Sequence[str]
    overdue: Sequence[str]  # a worker holds the lease, and its job has run for very long
    dead: Sequence[tuple[str, int]]  # with the number of dead jobs, most first
    waiting: int
    oldest_waiting_age_s: float
    held: int  # jobs of paused or halted lanes, which do not wait for workers


_ROLES = """
SELECT wanted, rolname IS NOT NULL,
       rolname IS NOT NULL AND pg_has_role(session_user, wanted, 'SET')
FROM unnest(%s::text[]) AS wanted LEFT JOIN pg_roles ON rolname = wanted
"""
_SERVER = """
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user),
       (SELECT extversion FROM pg_extension WHERE extname = 'vector')
"""
_STANDSTILL = """
SELECT array(SELECT agent_id FROM lane WHERE halted_by IS NOT NULL ORDER BY agent_id LIMIT 5),
       array(SELECT agent_id FROM lane WHERE paused ORDER BY agent_id LIMIT 5),
       array(SELECT agent_id FROM lane WHERE lease_until > now() AND EXISTS (
                 SELECT FROM job WHERE job.agent_id = lane.agent_id AND state = 'queued'
                 AND started_at < now() - make_interval(secs => %s::float8))
             ORDER BY agent_id LIMIT 5)
"""
_DEAD = """
SELECT agent_id, count(*) FROM job WHERE state = 'dead'
GROUP BY agent_id ORDER BY count(*) DESC, agent_id LIMIT 5
"""
_WAITING = """
SELECT count(*) FILTER (WHERE NOT held),
       coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE NOT held)), 0)::float8,
       count(*) FILTER (WHERE held)
FROM (
    SELECT job.created_at, lane.paused OR lane.halted_by IS NOT NULL AS held
    FROM job JOIN lane USING (agent_id) WHERE state = 'queued'
) AS queued
"""


def database_state(database_url: str) -> DatabaseState:
    """Inspect the database as the login itself, which needs no rights for it.

    Raises ``DatabaseUnavailableError`` with the cause, without address or password, and
    ``ConfigurationError`` if the server is too old.
    """
    engine = create_engine(
        make_url(database_url).set(drivername="postgresql+psycopg"),
        poolclass=NullPool,
        connect_args={"connect_timeout": _TIMEOUT_S},
    )
    try:
        with engine.connect() as connection:
            return _inspect(connection)
    except DBAPIError as error:
        raise DatabaseUnavailableError(
            f"the database does not answer, or refuses the login ({type(error.orig).__name__});"
            " check MEMCI_DATABASE_URL"
        ) from error


def check_version(connection: Connection) -> int:
    """Return the major version of the server; raises ``ConfigurationError`` if it is too old."""
    found = connection.dialect.server_version_info
    if found is None or found < _OLDEST:
        version = found[0] if found else "of an unknown version"
        raise ConfigurationError(
            f"the database is PostgreSQL {version}: memci needs {_OLDEST[0]} or later, with"
            " pgvector 0.7 or later"
        )
    return int(found[0])


def standstill(connection: Connection, *, overdue_s: float) -> Standstill:
    """Return lanes that stand still; needs an upkeep transaction."""
    halted, paused, overdue = connection.exec_driver_sql(_STANDSTILL, (overdue_s,)).one()
    dead = [(agent_id, jobs) for agent_id, jobs in connection.exec_driver_sql(_DEAD)]
    waiting, age_s, held = connection.exec_driver_sql(_WAITING).one()
    return Standstill(halted, paused, overdue, dead, waiting, age_s, held)


def _inspect(connection: Connection) -> DatabaseState:
    from memci.storage.migrate import head_revision  # noqa: PLC0415

    version = check_version(connection)
    superuser, vector = connection.exec_driver_sql(_SERVER).one()
    roles = connection.exec_driver_sql(_ROLES, ([str(role) for role in DatabaseRole],)).all()
    may = {name: may for name, _, may in roles}
    return DatabaseState(
        version=version,
        superuser=superuser,
        vector=vector,
        missing_roles=tuple(name for name, exists, _ in roles if not exists),
        forbidden_roles=tuple(
            name for name, exists, may in roles if exists and not may and name != DatabaseRole.OWNER
        ),
        may_own=may[DatabaseRole.OWNER],
        revisions=Revisions(_revision(connection, readable=may[DatabaseRole.APP]), head_revision()),
    )


def _revision(connection: Connection, *, readable: bool) -> str | None:
    from memci.storage.migrate import current_revision  # noqa: PLC0415

    if not readable:
        return None
    connection.exec_driver_sql("SELECT set_config('role', %s, true)", (DatabaseRole.APP,))
    return current_revision(connection)


# Seconds after which an unclaimed wakeup counts as lost.
WAKEUP_STALE_S = 10.0
# Three reads: queued and dead jobs by their partial indexes, and all lanes (30 ms at 100,000).
_GAUGES = """
SELECT queued.jobs, queued.age_s, queued.lag_s, dead.jobs, lanes.*,
       pg_database_size(current_database())
FROM (
    SELECT count(*) AS jobs,
           coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age_s,
           coalesce(extract(epoch FROM now() - min(created_at)
               FILTER (WHERE kind = 'memci.memory.create')), 0)::float8 AS lag_s
    FROM job WHERE state = 'queued'
) AS queued, (
    SELECT count(*) AS jobs FROM job WHERE state = 'dead'
) AS dead, (
    SELECT count(*) FILTER (WHERE lease_until > now()),
           count(*) FILTER (
               WHERE least(wake_at, compress_at) < now() - make_interval(secs => %s::float8)
               AND (not_before IS NULL OR not_before < now())
               AND (lease_until IS NULL OR lease_until < now())
               AND NOT paused AND halted_by IS NULL),
           count(*) FILTER (WHERE compress_req > compress_done)
    FROM lane
) AS lanes
"""


def lane_gauges(connection: Connection, *, stale_s: float = WAKEUP_STALE_S) -> dict[str, float]:
    """Return the current gauges by name; needs an upkeep transaction.

    A lane is due and unclaimed when its wakeup has been out for longer than ``stale_s``.
    """
    row = connection.exec_driver_sql(_GAUGES, (stale_s,)).one()
    return dict(zip(LANE_GAUGES, row, strict=True))


def check_database(database: Database) -> None:
    """Raise ``DatabaseUnavailableError`` if the database does not answer."""
    with database.lane_transaction(durable=False) as connection:
        connection.exec_driver_sql("SELECT 1")


def check_migrations(database: Database) -> None:
    """Raise ``UnavailableError`` if migrations are missing."""
    from memci.storage.migrate import current_revision, head_revision  # noqa: PLC0415

    with database.lane_transaction(durable=False) as connection:
        found = Revisions(current_revision(connection), head_revision())
    if not found.fits:
        raise UnavailableError(
            f"the database is at revision {found.current}, this release needs {found.needed}: "
            "run `memci db upgrade`"
        )
