"""API keys in the database: of the whole server, not of an agent. Only hashes are stored."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb
from sqlalchemy import RowMapping

from memci.storage.session import Connection

_COLUMNS = """
name, agents, scope, hash, former_hash, former_until, expires_at, limits, created_at, last_used_at,
revoked_at
"""
_ALL = f"SELECT {_COLUMNS} FROM api_key ORDER BY name"  # noqa: S608 - a constant of this module
_INSERT = f"""
INSERT INTO api_key (name, agents, scope, hash, expires_at, limits)
VALUES (%(name)s, %(agents)s, %(scope)s, %(hash)s, %(expires_at)s, %(limits)s)
ON CONFLICT (name) DO NOTHING RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant of this module
_LOCK = f"SELECT {_COLUMNS} FROM api_key WHERE name = %s FOR UPDATE"  # noqa: S608 - a constant
_UPDATE = f"""
UPDATE api_key SET agents = %(agents)s, scope = %(scope)s, hash = %(hash)s,
       former_hash = %(former_hash)s, former_until = %(former_until)s,
       expires_at = %(expires_at)s, limits = %(limits)s, revoked_at = %(revoked_at)s
 WHERE name = %(name)s RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant of this module
_USED = """
UPDATE api_key SET last_used_at = used.at
  FROM unnest(%s::text[], %s::timestamptz[]) AS used (name, at)
 WHERE api_key.name = used.name AND (last_used_at IS NULL OR last_used_at < used.at)
"""


def all_keys(connection: Connection) -> list[RowMapping]:
    """Return the rows of all keys, revoked ones too, by name."""
    return list(connection.exec_driver_sql(_ALL).mappings())


def insert_key(connection: Connection, values: Mapping[str, Any]) -> RowMapping | None:
    """Store a key and return its row; None if there is one of this name."""
    return connection.exec_driver_sql(_INSERT, _jsonb(values)).mappings().first()


def locked_key(connection: Connection, name: str) -> RowMapping | None:
    """Return the row of a key, which nobody else changes before the transaction ends."""
    return connection.exec_driver_sql(_LOCK, (name,)).mappings().first()


def update_key(connection: Connection, values: Mapping[str, Any]) -> RowMapping:
    """Write all columns of a locked key and return its row."""
    return connection.exec_driver_sql(_UPDATE, _jsonb(values)).mappings().one()


def note_uses(connection: Connection, uses: Iterable[tuple[str, datetime]]) -> None:
    """Write when keys were used last."""
    ordered = sorted(uses)  # as all processes lock the rows
    connection.exec_driver_sql(_USED, ([name for name, _ in ordered], [at for _, at in ordered]))


def _jsonb(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, "limits": Jsonb(values["limits"])}
