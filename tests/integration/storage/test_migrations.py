"""Migrations: up, down and up again; what they make is what the code reads."""

from __future__ import annotations

from contextlib import closing, contextmanager

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.pool import NullPool

from memci.storage.agents import is_there
from memci.storage.migrate import _HERE, current_revision, downgrade, head_revision, upgrade
from memci.storage.schema import EDITION_SCHEMA, TWINNED, metadata
from memci.storage.session import Database


@contextmanager
def as_owner(database_url):
    with create_engine(database_url, poolclass=NullPool).connect() as connection:
        connection.exec_driver_sql("SET ROLE memci_owner")
        yield connection


def test_up_down_and_up_again(database_url):
    for _ in range(2):
        upgrade(database_url)
        with as_owner(database_url) as connection:
            assert current_revision(connection) == head_revision()
        downgrade(database_url, "base")
        with as_owner(database_url) as connection:
            assert current_revision(connection) is None
            assert set(inspect(connection).get_table_names()) == {"alembic_version"}
    upgrade(database_url)


def test_the_tables_are_what_the_code_says(database_url):
    with as_owner(database_url) as connection:
        options = {"compare_server_default": True, "include_schemas": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_what_was_there_before_the_log_of_replays_can_be_rebuilt(database_url):
    """Trails and logs of passes tell what has made a network, in the order of their times."""
    downgrade(database_url, _BEFORE_EDITIONS)
    with closing(Database(database_url)) as database:
        with database.agent_transaction("ada") as connection:
            for statement in _OLD:
                connection.exec_driver_sql(statement)
        upgrade(database_url)
        with database.agent_snapshot("ada") as connection:
            rows = connection.exec_driver_sql(
                "SELECT event, seqs, pass_number, scanned, ended FROM replay_log ORDER BY place"
            ).all()
        assert [tuple(row) for row in rows] == [
            ("created", [1, 2], 0, 0, False),
            ("scanned", [], 1, 3, True),
            ("created", [3], 1, 0, False),
            ("scanned", [], 2, 1, False),
        ]
        with database.agent_snapshot("bob") as connection:
            others = connection.exec_driver_sql("SELECT count(*) FROM replay_log")
            assert others.scalar_one() == 0


_BEFORE_EDITIONS = ScriptDirectory(str(_HERE)).get_revision("0006").down_revision
_JOBS = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
_OLD = (
    "INSERT INTO lane (agent_id, message_seq, pass_number) VALUES ('ada', 3, 2)",
    f"""INSERT INTO trail (agent_id, node_id, event, pass_number, details, at) VALUES
    ('ada', 1, 'created', 0, '{{"job": "{_JOBS[0]}", "messages": [1]}}', now() - interval '9 h'),
    ('ada', 2, 'created', 0, '{{"job": "{_JOBS[0]}", "messages": [1, 2]}}', now() - interval '9 h'),
    ('ada', 2, 'compressed', 1, '{{"from": 9, "to": 5}}', now() - interval '8 h'),
    ('ada', 3, 'created', 1, '{{"job": "{_JOBS[1]}", "messages": [3]}}', now() - interval '7 h')""",
    """INSERT INTO pass_log (agent_id, number, message_seq, started_at, finished_at, scanned) VALUES
    ('ada', 1, 2, now() - interval '8 h', now() - interval '8 h', 3),
    ('ada', 2, 3, now() - interval '6 h', NULL, 1)""",
)


def test_an_agent_that_was_erased_before_it_could_begin_with_a_page_stays_erased(database_url):
    downgrade(database_url, _BEFORE_PAGES)
    with closing(Database(database_url)) as database:
        with database.lane_transaction() as connection:
            connection.exec_driver_sql(
                "INSERT INTO lane (agent_id, epoch, message_seq, erased_messages, written_at)"
                " VALUES ('erased', 1, 3, 3, now()), ('again', 1, 4, 3, now()),"
                " ('ada', 0, 3, 3, now())"
            )
        upgrade(database_url)
        with database.lane_transaction() as connection:
            there = {each: is_there(connection, each) for each in ("erased", "again", "ada")}
    assert there == {"erased": False, "again": True, "ada": True}


_BEFORE_PAGES = ScriptDirectory(str(_HERE)).get_revision("0010").down_revision


def test_tables_of_rebuilt_networks_are_like_those_of_current_ones(database_url):
    """A migration that changes one of them changes the other too, in the same order."""
    query = text("""
        SELECT attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attidentity
          FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attnum > 0
           AND NOT attisdropped ORDER BY attnum""")
    with as_owner(database_url) as connection:
        for table in TWINNED:
            current, rebuilt = (
                connection.execute(query, {"table": f"{schema}.{table.name}"}).all()
                for schema in ("public", EDITION_SCHEMA)
            )
            assert current == rebuilt, table.name
            assert current
