"""No test sees changes that another test made to its database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import LiteralString, TypeAlias

import psycopg
import pytest

from memci.embedded import Postgres
from tests.support.databases import Databases
from tests.support.servers import open_database

Execute: TypeAlias = Callable[..., object]
STATE: LiteralString = """
SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM lane),
       (SELECT version_num FROM alembic_version),
       (SELECT count(*) FROM pg_sequences WHERE last_value IS NOT NULL),
       (SELECT count(*) FROM pg_stats WHERE schemaname = 'public'),
       (SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public'),
       (SELECT count(*) FROM information_schema.role_table_grants),
       (SELECT coalesce(sum(n_tup_ins), 0) FROM pg_stat_user_tables),
       pg_relation_size('lane'), current_setting('work_mem')
"""
CHANGES: dict[str, LiteralString] = {
    "rows": "INSERT INTO lane (agent_id) VALUES ('ada')",
    "sequences": "SELECT nextval(seqrelid::regclass) FROM pg_sequence",
    "statistics": "INSERT INTO lane (agent_id) VALUES ('ada'); ANALYZE lane",
    "columns": "ALTER TABLE job ADD COLUMN mine text",
    "less columns": "ALTER TABLE message DROP COLUMN remember",
    "tables": "CREATE TABLE mine (it text)",
    "rights": "GRANT SELECT ON lane TO PUBLIC",
    "the version": "UPDATE alembic_version SET version_num = 'v0000'",
    "settings": "DO $$ BEGIN EXECUTE format("
    "'ALTER DATABASE %I SET work_mem = ''77kB''', current_database()); END $$",
}


@pytest.fixture
def lenders(shared_postgres: Postgres) -> Iterator[Databases]:
    with closing(Databases(shared_postgres)) as made:
        yield made


@pytest.fixture
def execute(shared_postgres: Postgres) -> Execute:
    """Return a function that runs a statement as superuser, and returns its first row."""

    def run(url: str, statement: LiteralString = STATE) -> object:
        with shared_postgres.connect_as_superuser(database_of(url)) as connection:
            done = connection.execute(statement)
            return done.fetchone() if done.description else None

    return run


def database_of(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_no_change_is_left(lenders: Databases, execute: Execute, change: LiteralString):
    with lenders.lend() as url:
        fresh = execute(url)
        execute(url, change)
        assert execute(url) != fresh
    with lenders.lend() as url:
        assert execute(url) == fresh


def test_a_connection_after_the_test_finds_no_database(lenders: Databases):
    with lenders.lend() as url:
        straggler = open_database(url)
    with closing(straggler), pytest.raises(psycopg.OperationalError):
        straggler.execute("SELECT 1")
    with lenders.lend() as other:
        assert database_of(other) != database_of(url)
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            open_database(url)


def test_two_databases_lent_at_once_are_separate(lenders: Databases, execute: Execute):
    with lenders.lend() as one, lenders.lend() as other:
        execute(one, CHANGES["tables"])
        execute(one, CHANGES["columns"])
        assert execute(one) != execute(other)
