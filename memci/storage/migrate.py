"""Bring a database to the schema that this release needs, with Alembic."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.pool import NullPool

from memci.errors import ConfigurationError
from memci.storage.diagnosis import check_version
from memci.storage.events import continue_order
from memci.storage.session import DatabaseRole, own_errors

# Upgrades of one database wait for each other on this advisory lock.
_LOCK_KEY = 0x6D656D6369
_HERE = Path(__file__).parent / "migrations"


def upgrade(migration_url: str, database_url: str | None = None) -> None:
    """Prepare the roles and run every migration; idempotent.

    The login of ``migration_url`` becomes the owner; that of ``database_url`` is the one of the
    parts (default: the same). Raises ``DatabaseUnavailableError`` when the server does not answer,
    or goes away meanwhile, ``ConfigurationError`` when it is too old or the login may not do this.
    """
    with own_errors(), _engine(migration_url).begin() as connection:
        check_version(connection)
        _lock(connection)
        _prepare(connection, make_url(database_url or migration_url).username)
        _as_owner(connection)
        if (current_revision(connection) or "") <= head_revision():  # not of a later release
            command.upgrade(_config(connection), "head")
        continue_order(connection)


def downgrade(database_url: str, revision: str) -> None:
    """Revert migrations down to ``revision`` (``base``: all). Data of dropped tables is lost."""
    with own_errors(), _engine(database_url).begin() as connection:
        _lock(connection)
        _as_owner(connection)
        command.downgrade(_config(connection), revision)


def head_revision() -> str:
    """Return the revision that this release needs."""
    head = ScriptDirectory(str(_HERE)).get_current_head()
    if head is None:
        raise RuntimeError("the package has no migrations")
    return head


def current_revision(connection: Connection) -> str | None:
    """Return the revision that the database is at; None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def _prepare(connection: Connection, login: str | None) -> None:
    """Create missing prerequisites of the migrations: roles, their grants, pgvector.

    Raises ``ConfigurationError`` with the SQL for an administrator when this login may not.
    """
    own = connection.scalar(text("SELECT session_user"))
    logins = dict.fromkeys(DatabaseRole, login or own) | {DatabaseRole.OWNER: own}
    quote = connection.dialect.identifier_preparer.quote_identifier
    grants = {
        role: f"GRANT {role} TO {quote(each)} WITH INHERIT FALSE, SET TRUE"
        for role, each in logins.items()
    }
    try:
        for role in DatabaseRole:
            if not _holds(connection, "EXISTS (SELECT FROM pg_roles WHERE rolname = :role)", role):
                _run(connection, f"CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS")
            may_become = text("SELECT pg_has_role(:login, :role, 'SET')")
            if not connection.scalar(may_become, {"login": logins[role], "role": role}):
                _run(connection, grants[role])
        if not _holds(connection, "has_schema_privilege(:role, 'public', 'CREATE')"):
            _run(connection, f"GRANT CREATE, USAGE ON SCHEMA public TO {DatabaseRole.OWNER}")
        # The schema for rebuilt networks (M24), if its owner may not create it.
        if not _holds(
            connection,
            "to_regnamespace('memci_edition') IS NOT NULL"
            " OR has_database_privilege(:role, current_database(), 'CREATE')",
        ):
            _run(connection, f"CREATE SCHEMA memci_edition AUTHORIZATION {DatabaseRole.OWNER}")
        if not _holds(connection, "EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')"):
            _run(connection, "CREATE EXTENSION vector")
    except ProgrammingError as error:
        raise ConfigurationError(
            "this database login may not prepare the database; set MEMCI_MIGRATION_URL to one that"
            " may, or let an administrator run, in this database: "
            "CREATE EXTENSION IF NOT EXISTS vector; "
            + " ".join(f"CREATE ROLE {role} NOLOGIN;" for role in DatabaseRole)
            + "".join(f" {grant};" for grant in grants.values())
            + " GRANT CREATE, USAGE ON SCHEMA public TO memci_owner;"
            " CREATE SCHEMA IF NOT EXISTS memci_edition AUTHORIZATION memci_owner;"
        ) from error


def _holds(connection: Connection, condition: str, role: str = DatabaseRole.OWNER) -> bool:
    query = text(f"SELECT {condition}")
    return bool(connection.scalar(query, {"role": role} if ":role" in condition else {}))


def _run(connection: Connection, statement: str) -> None:
    connection.execute(text(statement))


def _engine(database_url: str) -> Engine:
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    return create_engine(url, poolclass=NullPool)


def _lock(connection: Connection) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})


def _as_owner(connection: Connection) -> None:
    connection.execute(text("SELECT set_config('role', :role, true)"), {"role": DatabaseRole.OWNER})


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
