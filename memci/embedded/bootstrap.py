"""What only the superuser can make: roles, the database, pgvector. Safe to run at each start."""

from __future__ import annotations

from typing import LiteralString

import psycopg
from psycopg import sql

LOGIN = "memci"
DATABASE = "memci"
OWNER = "memci_owner"
ROLES = (OWNER, "memci_app", "memci_upkeep")  # M21


def ensure_roles(connection: psycopg.Connection, password: str) -> None:
    """Make the three roles of M21, and the login that may take each of them on by SET ROLE.

    The login inherits nothing: a statement outside one of the roles sees no table.
    """
    for role in (*ROLES, LOGIN):
        if not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", role):
            _execute(connection, "CREATE ROLE {} NOLOGIN NOINHERIT", role)
    for role in ROLES:
        _execute(connection, "GRANT {} TO {} WITH INHERIT FALSE, SET TRUE", role, LOGIN)
    # The verifier, not the password: statements can end up in logs.
    verifier = connection.pgconn.encrypt_password(
        password.encode(), LOGIN.encode(), b"scram-sha-256"
    )
    statement = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(LOGIN), sql.Literal(verifier.decode())))


def ensure_database(connection: psycopg.Connection) -> None:
    """Make the database, owned by the role that runs migrations."""
    if not _exists(connection, "SELECT FROM pg_database WHERE datname = %s", DATABASE):
        _execute(connection, "CREATE DATABASE {} OWNER {}", DATABASE, OWNER)


def ensure_vector(connection: psycopg.Connection) -> None:
    """Make the extension, in the database of this connection."""
    if not _exists(connection, "SELECT FROM pg_extension WHERE extname = %s", "vector"):
        connection.execute("CREATE EXTENSION vector")


def _exists(connection: psycopg.Connection, query: LiteralString, name: str) -> bool:
    return connection.execute(query, (name,)).fetchone() is not None


def _execute(connection: psycopg.Connection, statement: LiteralString, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
