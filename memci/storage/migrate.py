"""Bring a database to the schema that this release needs, with Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from memci.storage.session import DatabaseRole, prepare

# Any two upgrades of one database wait for each other on this advisory lock.
_LOCK_KEY = 0x6D656D6369
_HERE = Path(__file__).parent / "migrations"


def upgrade(database_url: str, revision: str = "head") -> None:
    """Prepare the roles and run every migration up to ``revision``; does nothing when there."""
    with _engine(database_url).begin() as connection:
        _lock(connection)
        prepare(connection)
        _as_owner(connection)
        command.upgrade(_config(connection), revision)


def downgrade(database_url: str, revision: str) -> None:
    """Take migrations back down to ``revision`` (``base``: all). Data of dropped tables is lost."""
    with _engine(database_url).begin() as connection:
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
