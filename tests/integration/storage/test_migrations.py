"""Migrations: up, down and up again; the tables match the code."""

from __future__ import annotations

import re
from functools import partial

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from memci.errors import ConfigurationError, DatabaseUnavailableError
from memci.storage.diagnosis import database_state
from memci.storage.migrate import current_revision, downgrade, head_revision, upgrade
from memci.storage.schema import metadata
from memci.storage.schema.network import EDITION_SCHEMA, EDITION_TABLES
from tests.support.databases import as_owner, migration_url
from tests.support.fleet import ROOT

# Tables of the whole database; only migrations describe them, and indexes.
COMMON_TABLES = {"api_key", "audit", "key_usage", "vector_model", "model_total", "webhook"}


def test_up_down_and_up_again(database_url):
    for _ in range(2):
        upgrade(migration_url(database_url))
        with as_owner(database_url) as connection:
            assert current_revision(connection) == head_revision()
        downgrade(migration_url(database_url), "base")
        with as_owner(database_url) as connection:
            assert current_revision(connection) is None
            assert set(inspect(connection).get_table_names()) == {"alembic_version"}
    upgrade(migration_url(database_url))


def test_revisions_are_numbers_that_grow():
    """So a release knows that a revision is of a later one."""
    scripts = ScriptDirectory(str(ROOT / "memci/storage/migrations")).walk_revisions()
    numbers = [each.revision for each in scripts]
    assert numbers == sorted(numbers, reverse=True)
    assert all(re.fullmatch(r"\d{4}", each) for each in numbers)


def test_an_old_server_is_named_with_the_version_that_is_needed(database_url, monkeypatch):
    monkeypatch.setattr("memci.storage.diagnosis._OLDEST", (99,))
    for check in (upgrade, database_state):
        with pytest.raises(ConfigurationError, match=r"is PostgreSQL 18: memci needs 99 or later"):
            check(database_url)


@pytest.mark.parametrize("change", [upgrade, partial(downgrade, revision="base")])
def test_a_server_that_does_not_answer_is_an_error_without_its_address(change):
    with pytest.raises(DatabaseUnavailableError, match="The database does not answer"):
        change("postgresql://memci@127.0.0.1:1/memci")


def test_migrated_tables_match_the_code(database_url):
    def is_described(_: object, name: str, kind: str, *__: object) -> bool:
        return kind != "index" and name not in COMMON_TABLES

    with as_owner(database_url) as connection:
        options = {
            "compare_server_default": True,
            "include_schemas": True,
            "include_object": is_described,
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_tables_of_rebuilt_networks_are_like_those_of_current_ones(database_url):
    """A migration that changes one of them changes the other too, in the same order."""
    query = text("""
        SELECT attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attidentity
          FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attnum > 0
           AND NOT attisdropped ORDER BY attnum""")
    with as_owner(database_url) as connection:
        for table in EDITION_TABLES:
            current, rebuilt = (
                connection.execute(query, {"table": f"{schema}.{table.name}"}).all()
                for schema in ("public", EDITION_SCHEMA)
            )
            assert current == rebuilt, table.name
            assert current
