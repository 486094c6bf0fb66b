"""M21: no statement of one agent reads or changes another's rows, in any table."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import ProgrammingError

from memci.storage.schema import metadata

DIALECT = postgresql.dialect()
QUEUE_TABLES = {"lane", "job"}
# Tables of the whole database; they have no rows of agents.
COMMON_TABLES = {"api_key", "audit", "key_usage", "vector_model", "model_total", "webhook"}
CONTENT_TABLES = sorted(set(metadata.tables) - QUEUE_TABLES)
VALUES = {
    "TEXT": "'x'", "BIGINT": "1", "INTEGER": "1", "UUID": "gen_random_uuid()", "JSONB": "'{}'",
    "BYTEA": "'x'", "HALFVEC": "'[1,0]'", "TEXT[]": "'{}'", "BIGINT[]": "'{}'", "FLOAT": "0.5",
    "DOUBLE PRECISION": "0.5", "TIMESTAMP WITH TIME ZONE": "now()", "BOOLEAN": "false",
    "DATE": "current_date",
    "INTEGER[]": "'{}'", "REAL[]": "'{}'",
}  # fmt: skip


def insert_into(table: str, agent: str) -> str:
    """Return an INSERT of one row for an agent, with all columns that have no default."""
    columns = [
        column
        for column in metadata.tables[table].columns
        if column.name != "agent_id"
        and column.identity is None
        and (column.primary_key or (not column.nullable and column.server_default is None))
    ]
    names = ", ".join(["agent_id", *(f'"{column.name}"' for column in columns)])
    values = [VALUES[re.sub(r"\(.*\)", "", str(column.type.compile(dialect=DIALECT)))]
              for column in columns]  # fmt: skip
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join([repr(agent), *values])})"


@pytest.mark.parametrize("table", CONTENT_TABLES)
def test_another_agent_sees_and_changes_nothing(module_database, table):
    with module_database.agent_transaction("a") as connection:
        connection.execute(text(insert_into(table, "a")))
    columns = metadata.tables[table].columns
    column = next(c.name for c in columns if c.name != "agent_id" and c.identity is None)
    for statement in (
        f"SELECT * FROM {table}",
        f'UPDATE {table} SET "{column}" = "{column}" RETURNING agent_id',
        f"DELETE FROM {table} RETURNING agent_id",
    ):
        with module_database.agent_transaction("b") as connection:
            assert connection.execute(text(statement)).all() == [], statement
    with module_database.agent_transaction("a") as connection:
        assert len(connection.execute(text(f"SELECT * FROM {table}")).all()) == 1


@pytest.mark.parametrize("table", CONTENT_TABLES)
@pytest.mark.parametrize("agent", ["b", ""])
def test_a_wrong_or_missing_agent_writes_nothing(module_database, table, agent):
    with (
        pytest.raises(ProgrammingError, match="row-level security"),
        module_database.agent_transaction(agent) as connection,
    ):
        connection.execute(text(insert_into(table, "a")))


@pytest.mark.parametrize("table", CONTENT_TABLES)
def test_without_an_agent_content_tables_look_empty(module_database, table):
    with module_database.agent_transaction("c") as connection:
        connection.execute(text(insert_into(table, "c")))
    with module_database.lane_transaction() as connection:
        assert connection.execute(text(f"SELECT * FROM {table}")).all() == []


@pytest.mark.parametrize("table", CONTENT_TABLES)
def test_a_row_cannot_be_given_to_another_agent(module_database, table):
    with module_database.agent_transaction("d") as connection:
        connection.execute(text(insert_into(table, "d")))
    with (
        pytest.raises(ProgrammingError, match="row-level security"),
        module_database.agent_transaction("d") as connection,
    ):
        connection.execute(text(f"UPDATE {table} SET agent_id = 'b'"))


@pytest.mark.parametrize("table", sorted({*CONTENT_TABLES} - {"event"}))
def test_upkeep_sees_no_content(module_database, table):
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        module_database.upkeep_transaction() as connection,
    ):
        connection.execute(text(f"SELECT * FROM {table}"))


@pytest.mark.parametrize("column", ["payload", "last_error", "result"])
def test_upkeep_sees_jobs_without_their_contents(module_database, column):
    with module_database.upkeep_transaction() as connection:
        assert connection.execute(text("SELECT agent_id, id, state FROM job")).all() == []
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        module_database.upkeep_transaction() as connection,
    ):
        connection.execute(text(f"SELECT {column} FROM job"))


def test_every_table_is_secured_and_owned_as_the_design_says(database):
    with database.lane_transaction() as connection:
        rows = connection.execute(
            text(
                "SELECT oid::regclass::text, relrowsecurity, relforcerowsecurity,"
                " pg_get_userbyid(relowner) FROM pg_class WHERE relkind = 'r'"
                " AND relnamespace IN ('public'::regnamespace, 'memci_edition'::regnamespace)"
            )
        ).all()
        roles = connection.execute(
            text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname LIKE 'memci%'")
        ).all()
    assert {row[0] for row in rows} == set(metadata.tables) | COMMON_TABLES | {"alembic_version"}
    assert {row[3] for row in rows} == {"memci_owner"}
    secured = {row[0] for row in rows if row[1] and row[2]}
    assert secured == set(CONTENT_TABLES)
    assert not any(row[0] for row in roles), "no role of ours passes over row-level security"


_IN_PG_TEMP = """
CREATE FUNCTION pg_temp.tell(pg_catalog.jsonb) RETURNS boolean LANGUAGE plpgsql
    AS 'BEGIN RAISE EXCEPTION USING MESSAGE = current_user; END';
CREATE DOMAIN pg_temp.jsonb AS pg_catalog.jsonb CHECK (pg_temp.tell(VALUE));
"""
_TOLD = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
VALUES ('a', 1, 'created', 0, '{}')
"""


def test_a_trigger_of_the_owner_runs_nothing_of_its_caller(database):
    """Types in pg_temp would come before those of PostgreSQL."""
    with database.agent_transaction("a") as connection:
        connection.exec_driver_sql(_IN_PG_TEMP)
        connection.exec_driver_sql(_TOLD)
        told = connection.exec_driver_sql("SELECT count(*) FROM event").scalar_one()
    assert told == 1


def test_the_setting_ends_with_its_transaction(database):
    with database.agent_transaction("a") as connection:
        connection.execute(text(insert_into("message", "a")))
    for _ in range(20):  # more than there are pooled connections
        with database.engine.connect() as connection:
            agent = connection.exec_driver_sql("SELECT current_setting('memci.agent', true)")
            assert agent.scalar() in ("", None)
