"""An agent with very many messages has an index over its vectors (R11)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy.engine import make_url

from memci.reading.search import Search
from memci.schemas.reads import SearchRequest
from memci.storage.reading.snapshot_state import snapshot_state
from memci.storage.search.vector_index import build_indexes, large_agents, spare_indexes
from memci.storage.search.vectors import VectorModel, change_model, claim_model
from memci.storage.session import Database
from memci.testing import wait_until
from tests.support.databases import as_owner, migration_url
from tests.support.stored import Reader, Stored

COUNT = 120
SUBJECTS = ("ferry", "cat", "piano", "garden", "budget", "harbour", "letter", "bicycle")
ODD = "O'Hara \\ 50%"


@pytest.fixture
def crowded(reader: Reader) -> Stored:
    """An agent that is large for these tests, whose id has a quote, and a small one."""
    with reader.database.lane_transaction() as connection:
        claim_model(connection, VectorModel(reader.embedder.model, reader.embedder.dimension))
    many = Stored(reader, ODD)
    for number in range(COUNT):
        subject, other = SUBJECTS[number % 8], SUBJECTS[number // 8 % 8]
        many.say(f"Number {number} is about the {subject} and the {other}.", user=f"u{number % 2}")
    Stored(reader, "small").say("The ferry leaves.")
    return many


@pytest.fixture
def sorting_is_dear(database_url: str, crowded: Stored) -> Iterator[Reader]:
    """A reader in whose database even few rows are better read by the index."""
    name = make_url(database_url).database
    with as_owner(database_url) as connection:
        connection.exec_driver_sql(f'ALTER DATABASE "{name}" SET enable_sort = off')
    with closing(Database(database_url)) as database:
        made = Reader(database)
        yield made
        made.activity.close()


def found(reader: Reader, query: str, **asked: str) -> set[str]:
    request = SearchRequest(query=query, sources=("chat",), channels=("dense",), k=20, **asked)
    answer = Search(*reader.parts).run(ODD, request)
    return {each for hit in answer.hits for each in hit.message_ids}


def built(database_url: str, database: Database, least: int = COUNT) -> list[str]:
    return [each.agent_id for each in build_indexes(database, migration_url(database_url), least)]


def scans(database: Database) -> int:
    with database.upkeep_transaction() as connection:
        return connection.exec_driver_sql(
            "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes"
            " WHERE indexrelname LIKE 'message_vector!_%%' ESCAPE '!'"
            " AND indexrelname <> 'message_vector_pkey'"
        ).scalar_one()


def test_only_large_agents_get_an_index(crowded: Stored, database_url: str, reader: Reader):
    assert [(each.agent_id, each.has_index) for each in large_agents(reader.database, COUNT)] == [
        (ODD, False)
    ]
    assert built(database_url, reader.database) == [ODD]
    assert built(database_url, reader.database) == []
    assert [each.has_index for each in large_agents(reader.database, COUNT)] == [True]
    for agent_id, has_index in ((ODD, True), ("small", False)):
        with reader.database.agent_snapshot(agent_id) as connection:
            assert snapshot_state(connection, agent_id).has_vector_index == has_index


def test_an_index_that_is_not_needed_is_dropped(crowded: Stored, database_url: str, reader: Reader):
    built(database_url, reader.database)
    assert built(database_url, reader.database, COUNT + 1) == []
    with reader.database.agent_snapshot(ODD) as connection:
        assert not snapshot_state(connection, ODD).has_vector_index


def test_an_index_of_another_dimension_is_replaced(
    crowded: Stored, database_url: str, reader: Reader
):
    built(database_url, reader.database)
    model = VectorModel(reader.embedder.model, reader.embedder.dimension // 2)
    with reader.database.lane_transaction() as connection:
        change_model(connection, model)
    assert len(spare_indexes(reader.database, COUNT)) == 1
    assert [each.has_index for each in large_agents(reader.database, COUNT)] == [False]
    crowded.say("Vectors of the old dimension are no trouble.")
    assert built(database_url, reader.database) == [ODD]
    assert spare_indexes(reader.database, COUNT) == []


def test_a_search_by_the_index_finds_the_same(sorting_is_dear: Reader, database_url: str):
    reader = sorting_is_dear
    questions = ("the ferry and the garden", "a letter about the budget", "piano")
    before = [found(reader, each) for each in questions]
    of_user = [found(reader, each, user_id="u1") for each in questions]
    built(database_url, reader.database)
    assert [found(reader, each) for each in questions] == before
    assert [found(reader, each, user_id="u1") for each in questions] == of_user
    assert all(before)
    reader.database.engine.dispose()  # a server process reports its scans when it ends
    wait_until(lambda: scans(reader.database) >= len(questions), "the index is read")


def test_a_new_message_is_found_by_the_index(
    sorting_is_dear: Reader, crowded: Stored, database_url: str
):
    built(database_url, sorting_is_dear.database)
    crowded.say("The zeppelin lands on the roof.")
    assert f"m{COUNT + 1}" in found(sorting_is_dear, "zeppelin on the roof")
