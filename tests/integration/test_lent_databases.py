"""What one test does to its database, no other sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import LiteralString, TypeAlias

import psycopg
import pytest

from memci.embedded import Postgres
from memci.testing import open_database
from tests.support.databases import Databases

Look: TypeAlias = Callable[..., object]
LEFT: LiteralString = """
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
def look(shared_postgres: Postgres) -> Look:
    """Run a statement in a database as somebody who may do anything; returns a row of it."""

    def looked(url: str, statement: LiteralString = LEFT) -> object:
        with shared_postgres.connect_as_superuser(database_of(url)) as connection:
            done = connection.execute(statement)
            return done.fetchone() if done.description else None

    return looked


def database_of(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_of_a_test_is_left(lenders: Databases, look: Look, change: LiteralString):
    with lenders.lend() as url:
        fresh = look(url)
        look(url, change)
        assert look(url) != fresh
    with lenders.lend() as url:
        assert look(url) == fresh


def test_who_goes_on_finds_no_database(lenders: Databases):
    with lenders.lend() as url:
        straggler = open_database(url)
    with closing(straggler), pytest.raises(psycopg.OperationalError):
        straggler.execute("SELECT 1")
    with lenders.lend() as other:
        assert database_of(other) != database_of(url)
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            open_database(url)


def test_two_at_once_are_two(lenders: Databases, look: Look):
    with lenders.lend() as one, lenders.lend() as other:
        look(one, CHANGES["tables"])
        look(one, CHANGES["columns"])
        assert look(one) != look(other)
