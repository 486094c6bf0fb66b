"""Whether the database answers, and has the tables of this release."""

from __future__ import annotations

from memci.errors import UnavailableError
from memci.storage.session import Database


def check_database(database: Database) -> None:
    """Raise ``DatabaseUnavailableError`` when it does not answer."""
    with database.lane_transaction(durable=False) as connection:
        connection.exec_driver_sql("SELECT 1")


def check_migrations(database: Database) -> None:
    """Raise ``UnavailableError`` when migrations are missing, or newer than this release."""
    # Alembic takes longer to import than all of the rest, and only this asks for it.
    from memci.storage.migrate import current_revision, head_revision  # noqa: PLC0415

    with database.lane_transaction(durable=False) as connection:
        found = current_revision(connection)
    if found != head_revision():
        raise UnavailableError(
            f"the database is at revision {found}, this release needs {head_revision()}: "
            "run `memci db upgrade`"
        )
