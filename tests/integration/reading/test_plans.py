"""Query plans of frequent reads, with 10,000 messages and memories an agent (style rule 14)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from memci.commands.erase_search import Words, find_messages
from memci.message import Message, Role
from memci.reading.context import ContextReader
from memci.reading.lists.listings import Listings
from memci.reading.recall import Keywords, Recall, was_known
from memci.reading.search import Search
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.storage.messages import said_before
from memci.storage.network.nodes import last_memories
from memci.storage.reading.messages import last_session
from memci.storage.reading.recall import dangling_links, steps_from
from memci.storage.reading.snapshot_state import last_list_state
from memci.storage.search.find import Restriction
from memci.storage.session import Database
from memci.testing import database_copy
from tests.support.large_agents import fill
from tests.support.plans import analyze
from tests.support.query_plans import check, listening, one_plan, plans, scans
from tests.support.stored import BEGIN, Reader

# A million rows are inserted first.
pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

SIZE = 10_000
DIMENSION = 16  # plans depend on rows, not on the length of vectors


@pytest.fixture(scope="module")
def crowded(shared_postgres: Any) -> Iterator[Reader]:
    """An agent with 10,000 messages and 10,000 memories, a tenth of all rows."""
    with database_copy(shared_postgres) as url:
        reader = Reader(Database(url))
        try:
            _fill(reader.database)
            yield reader
        finally:
            reader.activity.close()
            reader.database.close()


def _fill(database: Database) -> None:
    fill(database, "big", messages=SIZE, nodes=SIZE, dimension=DIMENSION, terms=6)
    for number in range(9):
        fill(database, f"other{number}", messages=SIZE, nodes=SIZE, dimension=1, terms=2)
    analyze(database, "")


def question() -> tuple[str, Any]:
    vector = np.random.default_rng(7).standard_normal(DIMENSION).astype(np.float32)
    return "w1 w17 w250 w4000 w91", vector


def test_search_reads_its_agents_rows_by_index(crowded: Reader):
    text, vector = question()
    search = Search(*crowded.parts)
    read = check(
        plans(crowded, lambda: search.run("big", SearchRequest(query=text), vector=vector))
    )
    assert {"message_vector", "message_term", "node_vector", "node_term"} <= set(read)


@pytest.mark.parametrize("sight", [{}, {"session_id": "s10", "user_id": "u"}], ids=str)
def test_the_generic_plan_of_a_search_uses_indexes_for_all_viewers(
    crowded: Reader, sight: dict[str, Any]
):
    text, vector = question()
    search, request = Search(*crowded.parts), SearchRequest(query=text, **sight)
    statements: list[tuple[str, Any]] = []
    with listening(statements):
        search.run("big", request, vector=vector)
    (statement,) = {each for each, _ in statements if "chat_dense" in each}
    read = check([one_plan(crowded.database, statement)])
    assert {"message_vector", "message_term", "node_vector", "node_term"} <= set(read)


PREPARED = """
SELECT generic_plans, custom_plans FROM pg_prepared_statements
 WHERE strpos(statement, 'chat_dense') > 0 AND generic_plans + custom_plans > 0
"""


def test_a_search_is_planned_once(crowded: Reader):
    text, vector = question()
    search = Search(*crowded.parts)
    for _ in range(16):
        search.run("big", SearchRequest(query=text), vector=vector)
    with ExitStack() as stack:  # each pooled connection has plans of its own
        snapshots = [crowded.database.agent_snapshot("big", planned=True) for _ in range(4)]
        connections = [stack.enter_context(each) for each in snapshots]
        planned = [row for each in connections for row in each.exec_driver_sql(PREPARED)]
    assert planned
    assert {row.custom_plans for row in planned} == {0}


@pytest.mark.parametrize(
    "filters",
    [{"sessions": ["s10"]}, {"roles": ["user"]}, {"since": "2020-01-01T00:00:00Z"}],
    ids=str,
)
def test_filtered_search_reads_its_agents_rows_by_index(crowded: Reader, filters: dict[str, Any]):
    text, vector = question()
    request = SearchRequest(query=text, filters=filters)
    search = Search(*crowded.parts)
    assert check(plans(crowded, lambda: search.run("big", request, vector=vector)))


@pytest.mark.parametrize("sight", [{}, {"session_id": "s10", "user_id": "u"}], ids=str)
@pytest.mark.parametrize("query", ["w1 w17 yesterday", "w1 last week or in May", "since 2020"])
def test_messages_of_a_named_time_are_read_by_index(
    crowded: Reader, query: str, sight: dict[str, Any]
):
    _, vector = question()
    search, request = Search(*crowded.parts), SearchRequest(query=query, now=BEGIN, **sight)
    found = plans(crowded, lambda: search.run("big", request, vector=vector))
    assert check(found)
    (whole,) = [each for each in found if "chat_timed" in str(each)]
    used = [each["Index Name"] for each in scans(whole) if "Index Name" in each]
    assert used.count("message_said") == 1
    assert any("said_at >= " in each.get("Index Cond", "") for each in scans(whole))


@pytest.mark.parametrize("sight", [{}, {"session_id": "s10"}], ids=str)
def test_the_last_session_is_found_by_index(crowded: Reader, sight: dict[str, Any]):
    statements: list[tuple[str, Any]] = []
    with crowded.database.agent_snapshot("big") as connection:
        with listening(statements):
            last_session(connection, "big", Restriction(**sight), BEGIN + timedelta(days=900))
        explained = [
            connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", values).scalar_one()
            for statement, values in statements
            if "said_at <=" in statement
        ]
    check([each[0]["Plan"] for each in explained])
    used = [each.get("Index Name") for each in scans(explained[-1][0]["Plan"])]
    assert {"message_said", "message_tail"} <= set(used)


def test_a_question_without_a_time_does_not_search_by_time(crowded: Reader):
    text, vector = question()
    search = Search(*crowded.parts)
    found = plans(crowded, lambda: search.run("big", SearchRequest(query=text), vector=vector))
    assert "message_said" not in str(found)


SIGHTS: list[dict[str, Any]] = [
    {},
    {"session_id": "s10"},
    {"session_id": "s10", "user_id": "u", "as_of": "2020-01-01T00:00:00Z"},
]


@pytest.mark.parametrize("sight", SIGHTS, ids=str)
def test_a_search_over_links_reads_its_agents_rows_by_index(crowded: Reader, sight: dict[str, Any]):
    text, vector = question()
    request = SearchRequest(query=text, channels=["dense", "lexical", "bfs"], **sight)
    search = Search(*crowded.parts)
    found = plans(crowded, lambda: search.run("big", request, vector=vector))
    assert check(found).count("link") == 2
    assert sum("chat_linked" in str(plan) for plan in found) == 1, "one statement"


@pytest.mark.parametrize("sight", SIGHTS[1:], ids=str)
def test_search_of_a_viewer_reads_its_agents_rows_by_index(crowded: Reader, sight: dict[str, Any]):
    text, vector = question()
    search, request = Search(*crowded.parts), SearchRequest(query=text, **sight)
    found = plans(crowded, lambda: search.run("big", request, vector=vector))
    assert check(found)
    hiding = [each for plan in found for each in scans(plan) if each.get("Alias") == "h"]
    assert {each.get("Index Name") for each in hiding} == {"node_short"}


@pytest.mark.parametrize("sight", SIGHTS, ids=str)
@pytest.mark.parametrize("keywords", [[], ["w9"], ["zzz"]], ids=str)
def test_recall_reads_its_agents_rows_by_index(
    crowded: Reader, keywords: list[str], sight: dict[str, Any]
):
    _, vector = question()
    recall, request = Recall(*crowded.parts), RecallRequest(keywords=keywords, **sight)
    read = check(plans(crowded, lambda: recall.run("big", request, vectors=vector[None])))
    assert "link" in read


@pytest.mark.parametrize("sight", SIGHTS, ids=str)
def test_a_miss_searches_its_agents_messages_by_index(crowded: Reader, sight: dict[str, Any]):
    """The keywords are terms, a character, or none."""
    vector = np.zeros((1, DIMENSION), dtype=np.float32)
    some = Keywords.of(["w1 zzz", "w2 w3", "猫"], crowded.models, vector)
    none = Keywords.of([], crowded.models, vector[:0])
    request = RecallRequest(keywords=[], **sight)
    viewer = Restriction(
        session_id=request.session_id, user_id=request.user_id, as_of=request.as_of
    )
    for keywords in (some, none):

        def read(keywords: Keywords = keywords) -> None:
            with crowded.database.agent_snapshot("big") as connection:
                was_known(connection, "big", keywords, viewer)

        tables = set(check(plans(crowded, read)))
        assert "message" in tables
        assert ("message_term" in tables) is (keywords is some)


@pytest.mark.parametrize("query", ["w1 w17", "w1 猫", "猫"])
def test_messages_to_erase_are_found_by_index(crowded: Reader, query: str):
    words = Words.of(query, crowded.models.lexicon)
    read = check(plans(crowded, lambda: find_messages(crowded.database, "big", words, most=20)))
    assert ("message_term" in read) is bool(words.terms)


@pytest.mark.parametrize("sight", SIGHTS, ids=str)
def test_links_to_forgotten_nodes_are_read_by_index(crowded: Reader, sight: dict[str, Any]):
    """This holds for a network of which most is forgotten, too."""
    viewer = Restriction(**sight)

    def read() -> None:
        with crowded.database.agent_snapshot("big") as connection:
            dangling_links(connection, "big", [], viewer)
            steps_from(connection, "big", range(1, 100), [], viewer)

    found = check(plans(crowded, read))
    assert "link" in found
    assert ("message" in found) == bool(sight)


def test_the_last_memories_of_sessions_are_one_index_scan(crowded: Reader):
    sessions = [None, *(f"s{number}" for number in range(100, 200))]
    last: dict[str | None, int] = {}

    def read() -> None:
        with crowded.database.agent_snapshot("big") as connection:
            last.update(last_memories(connection, "big", sessions))

    (found,) = plans(crowded, read)
    assert check([found]) == ["node", "node"]
    assert {each["Index Name"] for each in scans(found) if "Index Name" in each} == {"node_session"}
    assert len(last) == 100


def test_messages_before_others_are_one_index_scan(crowded: Reader):
    firsts = [
        Message(
            seq=SIZE, id="m", role=Role.USER, content="", said_at=BEGIN, session_id=session,
            user_id=None,
        )
        for session in (None, *(f"s{number}" for number in range(100)))
    ]  # fmt: skip

    def read() -> None:
        with crowded.database.agent_snapshot("big") as connection:
            said_before(connection, "big", firsts, 8)

    (found,) = plans(crowded, read)
    assert check([found]) == ["message", "message"]
    assert {each.get("Index Name") for each in scans(found)} == {"message_session"}


@pytest.mark.parametrize("query", ["w1 w17 w250", None])
def test_context_reads_its_agents_rows_by_index(crowded: Reader, query: str | None):
    _, vector = question()
    request = ContextRequest(query=query, budget_tokens=2_000, session_id="s249")
    assemble = ContextReader(*crowded.parts)
    assert check(plans(crowded, lambda: assemble.run("big", request, vector=vector)))


@pytest.mark.parametrize("session_id", [None, "s1", "s2"])
def test_the_last_context_is_one_index_scan_among_many_receipts(
    crowded: Reader, session_id: str | None
):
    """There are receipts of searches, and of contexts of this and other sessions."""
    with crowded.database.agent_transaction("big") as connection:
        connection.exec_driver_sql(
            "INSERT INTO receipt (agent_id, id, kind, session_id, body, created_at)"
            " SELECT 'big', gen_random_uuid(), kind, session, '{\"prefix\": []}',"
            "        now() - n * interval '1 second'"
            " FROM generate_series(1, 3000) n,"
            " (VALUES ('search', NULL), ('context', 's1')) AS each(kind, session)"
        )
    statement, values = _last_list_query(crowded, session_id)
    analyze(crowded.database, "")
    with crowded.database.agent_snapshot("big", planned=True) as connection:
        row = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values)
        plan = row.scalar_one()[0]["Plan"]
    (scan,) = (each for each in scans(plan) if each.get("Relation Name") == "receipt")
    assert scan["Index Name"] == "receipt_last"
    assert scan.get("Rows Removed by Filter", 0) == 0


def _last_list_query(reader: Reader, session_id: str | None) -> tuple[str, Any]:
    statements: list[tuple[str, Any]] = []
    reader.activity.flush()  # as in plans()
    with reader.database.agent_snapshot("big") as connection, listening(statements):
        last_list_state(connection, "big", session_id)
    (read,) = (each for each in statements if "FROM receipt" in each[0])
    return read


def test_a_network_is_read_by_index(crowded: Reader):
    """A pass runs the same statement for its snapshot."""
    listings = Listings(crowded.database)
    read = check(plans(crowded, lambda: listings.network("big", number=None, limit=500)))
    assert {"node", "link"} <= set(read)


def test_a_search_for_pages_reads_no_pages_of_interactions(crowded: Reader) -> None:
    with crowded.database.agent_transaction("big") as connection:
        connection.exec_driver_sql(
            "INSERT INTO page (agent_id, id, kind, segment, parent, place, name, description,"
            " expanded, cold, first_seq, last_seq, session_id, number)"
            " SELECT 'big', 'usr-' || n, CASE WHEN n = 0 THEN 'contents' ELSE 'detail' END, 'usr',"
            " CASE WHEN mod(n, 2) = 1 THEN 'usr-0' END, n, 'word ' || n, '', false,"
            " mod(n, 2) = 0 AND n > 0,"
            " CASE WHEN n > 40 THEN n END, CASE WHEN n > 40 THEN n END, 's' || n,"
            " CASE WHEN n > 40 THEN n END FROM generate_series(0, 5000) AS n"
        )
    analyze(crowded.database, "page")
    request = SearchRequest(query="word", sources=["page"], k=50)
    found = plans(crowded, lambda: Search(*crowded.parts).run("big", request))
    of_pages = [
        scan
        for plan in found
        for scan in scans(plan)
        if scan.get("Relation Name") == "page" or "page_" in scan.get("Index Name", "")
    ]
    assert of_pages
    used = {scan.get("Index Name") for scan in of_pages} - {"page_span"}  # of messages
    assert used <= {"page_written", "page_living"}
