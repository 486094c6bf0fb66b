"""The three database roles of M21, and how a connection takes one on.

``memci_owner`` owns the tables and runs migrations; ``memci_app`` works under row-level
security; ``memci_upkeep`` sees lanes and heads of jobs of all agents, and no text. None of them
can log in: a login role that was granted them takes one on for each transaction, so one URL is
enough and nothing depends on the state of a pooled connection.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from memci.errors import ConfigurationError


class DatabaseRole(StrEnum):
    """Who a transaction runs as."""

    OWNER = "memci_owner"
    APP = "memci_app"
    UPKEEP = "memci_upkeep"


def prepare(connection: Connection) -> None:
    """Create what migrations stand on, where it is missing: roles, their grants, pgvector.

    Raises ``ConfigurationError`` with the SQL for an administrator when this login may not.
    """
    try:
        for role in DatabaseRole:
            _ensure_role(connection, role)
        _ensure_schema_rights(connection)
        _ensure_edition_schema(connection)
        _ensure_vector(connection)
    except ProgrammingError as error:
        raise ConfigurationError(
            "this database login may not prepare the database; let an administrator run, in it: "
            "CREATE EXTENSION IF NOT EXISTS vector; "
            + " ".join(f"CREATE ROLE {role} NOLOGIN;" for role in DatabaseRole)
            + " GRANT memci_owner, memci_app, memci_upkeep TO <login>;"
            " GRANT CREATE, USAGE ON SCHEMA public TO memci_owner;"
            " CREATE SCHEMA IF NOT EXISTS memci_edition AUTHORIZATION memci_owner;"
        ) from error


def _ensure_role(connection: Connection, role: DatabaseRole) -> None:
    known = connection.execute(
        text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}
    ).first()
    if not known:
        connection.execute(text(f"CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS"))
    member = text("SELECT pg_has_role(session_user, :role, 'SET')")
    superuser = text("SELECT rolsuper FROM pg_roles WHERE rolname = session_user")
    if not connection.scalar(superuser) and not connection.scalar(member, {"role": role}):
        connection.execute(text(f"GRANT {role} TO SESSION_USER WITH SET TRUE"))


def _ensure_schema_rights(connection: Connection) -> None:
    rights = text("SELECT has_schema_privilege(:role, 'public', 'CREATE')")
    if not connection.scalar(rights, {"role": DatabaseRole.OWNER}):
        connection.execute(text(f"GRANT CREATE, USAGE ON SCHEMA public TO {DatabaseRole.OWNER}"))


def _ensure_edition_schema(connection: Connection) -> None:
    """Make the schema for rebuilt networks (M24), where its owner may not do so itself."""
    known = text("SELECT 1 FROM pg_namespace WHERE nspname = 'memci_edition'")
    allowed = text("SELECT has_database_privilege(:role, current_database(), 'CREATE')")
    if connection.scalar(known) or connection.scalar(allowed, {"role": DatabaseRole.OWNER}):
        return
    connection.execute(text(f"CREATE SCHEMA memci_edition AUTHORIZATION {DatabaseRole.OWNER}"))


def _ensure_vector(connection: Connection) -> None:
    if not connection.scalar(text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")):
        connection.execute(text("CREATE EXTENSION vector"))
