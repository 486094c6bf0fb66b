"""Databases for tests, which are used again.

Copying the migrated database takes several times longer than most tests. So a copy is emptied
and used by the next test. If a test changed more than rows of memci's tables (the schema, rights,
statistics of the planner), its copy is dropped.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import LiteralString

from psycopg import sql
from psycopg.rows import TupleRow
from sqlalchemy import URL, Connection, NullPool, create_engine, make_url

from memci.embedded import Postgres
from memci.embedded.postgres import SUPERUSER

_WAIT_MS = 10_000

_END_SESSIONS = "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity WHERE datname = %s"
# Objects made after initdb: by the migrations or by a test.
_FIRST_OF_OURS = 16384
_CATALOGS = {
    "pg_attrdef": "oid",
    "pg_attribute": "attrelid",
    "pg_constraint": "oid",
    "pg_default_acl": "oid",
    "pg_depend": "objid",
    "pg_extension": "oid",
    "pg_index": "indexrelid",
    "pg_namespace": "oid",
    "pg_policy": "oid",
    "pg_proc": "oid",
    "pg_sequence": "seqrelid",
    "pg_statistic": "starelid",
    "pg_statistic_ext": "oid",
    "pg_trigger": "oid",
    "pg_type": "oid",
}
# The versions of rows show whether anything was written. TRUNCATE writes to pg_class only, of
# which only the columns that it leaves are compared.
_VERSIONS = "SELECT {}, count(*), sum(hashint8(xmin::text::bigint)) FROM {}"
_RELATIONS = """
SELECT 'pg_class', count(*), sum(hashtext(ROW(
  oid, relname, relnamespace, relowner, relacl, reloptions, relrowsecurity, relforcerowsecurity,
  relpersistence, reltablespace)::text)) FROM pg_class WHERE oid >= {}
"""
_DATABASE = """
SELECT 'pg_database', count(setting.*),
  sum(hashtext(ROW(datdba, datacl, datallowconn, datconnlimit, setting.*)::text))
FROM pg_database LEFT JOIN pg_db_role_setting AS setting ON setdatabase = pg_database.oid
WHERE datname = current_database()
"""
_WITH_ROWS = """
SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname IN ('public', 'memci_edition') AND relkind = 'r' AND relname <> 'alembic_version'
  AND pg_relation_size(pg_class.oid) > 0
"""
_START_AGAIN = """
SELECT setval(seqrelid, seqstart, false) FROM pg_sequence
WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""


def _comparison() -> sql.Composed:
    """The query that shows whether more than the migrations changed a database."""
    ours = sql.SQL(" WHERE {} >= {}")
    versions = [
        sql.SQL(_VERSIONS).format(sql.Literal(name), sql.Identifier(name))
        + ours.format(sql.Identifier(key), _FIRST_OF_OURS)
        for name, key in _CATALOGS.items()
    ]
    versions.append(sql.SQL(_VERSIONS).format("alembic_version", sql.Identifier("alembic_version")))
    relations = sql.SQL(_RELATIONS).format(_FIRST_OF_OURS)
    return sql.SQL(" UNION ALL ").join([*versions, relations, sql.SQL(_DATABASE)])


_COMPARE = _comparison()


def migration_url(database_url: str | URL) -> str:
    """The same database of the tests' server, for the login that changes its schema."""
    url = make_url(database_url)
    passfile = str(url.query["passfile"]).replace("memci.pass", f"{SUPERUSER}.pass")
    url = url.set(username=SUPERUSER).update_query_dict({"passfile": passfile})
    return url.render_as_string(hide_password=False)


@contextmanager
def as_owner(database_url: str | URL) -> Iterator[Connection]:
    """Connect as the owner of the tables, and commit each statement."""
    engine = create_engine(
        migration_url(database_url), poolclass=NullPool, isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.exec_driver_sql("SET ROLE memci_owner")
        yield connection


class Databases:
    """Lends migrated, empty databases; each has a new name.

    So a process that an earlier test left cannot connect to its database.
    """

    def __init__(self, postgres: Postgres) -> None:
        """Start without databases."""
        self._postgres = postgres
        self._server = postgres.connect_as_superuser()
        self._ready: list[str] = []
        self._new: list[TupleRow] = []

    @contextmanager
    def lend(self) -> Iterator[str]:
        """Lend the URL of a database; after the block, its connections are closed."""
        name = self._ready.pop() if self._ready else self._copy()
        try:
            yield self._postgres.database_url(name)
        finally:
            self._take_back(name)

    def close(self) -> None:
        """Drop the databases that are not lent."""
        while self._ready:
            self._do("DROP DATABASE {} WITH (FORCE)", self._ready.pop())
        self._server.close()

    def _copy(self) -> str:
        name = _new_name()
        self._do("CREATE DATABASE {} TEMPLATE memci OWNER memci_owner", name)
        if not self._new:
            with self._postgres.connect_as_superuser(name) as connection:
                self._new = connection.execute(_COMPARE).fetchall()
        return name

    def _take_back(self, name: str) -> None:
        self._server.execute(_END_SESSIONS, [_WAIT_MS, name])
        renamed = _new_name()
        self._do("ALTER DATABASE {} RENAME TO {}", name, renamed)
        if self._emptied(renamed):
            self._ready.append(renamed)
        else:
            self._do("DROP DATABASE {} WITH (FORCE)", renamed)

    def _emptied(self, name: str) -> bool:
        with self._postgres.connect_as_superuser(name) as connection:
            if connection.execute(_COMPARE).fetchall() != self._new:
                return False
            if tables := connection.execute(_WITH_ROWS).fetchall():
                names = sql.SQL(", ").join(sql.Identifier(*table) for table in tables)
                connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))
            connection.execute(_START_AGAIN)
            connection.execute("SELECT pg_stat_reset()")
        return True

    def _do(self, statement: LiteralString, *names: str) -> None:
        self._server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _new_name() -> str:
    return f"test_{secrets.token_hex(6)}"
