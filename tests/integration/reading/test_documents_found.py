"""Searches and contexts give documents and code besides messages (R9, R11, R13)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.domain.documents import Chunk, ChunkKind
from memci.domain.search.candidate import Source
from memci.errors import NotFoundError
from memci.reading.context import ContextReader
from memci.reading.search import Search
from memci.schemas.reads import ContextRequest, Hit, SearchRequest
from tests.support.documents import put
from tests.support.stored import Reader, Stored

GUIDE = [
    Chunk("Turn the brass valve twice before the pump starts.", ("Guide", "Pump"), first_line=4),
    Chunk("水泵每周三由值班员检查一次。", ("手册", "水泵"), language="zh", page=2),
]
CODE = [
    Chunk(
        "def prime_pump(valve):\n    valve.open()", ("Pump", "prime_pump"), ChunkKind.CODE,
        "Pump.prime_pump", "python", 10, 11,
    ),
    Chunk("def stop():\n    pass", ("Pump", "stop"), ChunkKind.CODE, "Pump.stop", "python", 13, 14),
]  # fmt: skip


@pytest.fixture
def indexed(alice: Stored) -> Stored:
    alice.say("The harbour ferry leaves at eight.", name="Ann", user="u1")
    for owner, name, chunks in (
        ("alice", "docs/guide.md", GUIDE),
        ("collection/machines", "pump.py", CODE),
        ("collection/secret", "secret.md", [Chunk("The pump's master key lies under the mat.")]),
    ):
        database = alice.reader.database
        with database.agent_transaction(owner) as connection:
            connection.exec_driver_sql(
                "INSERT INTO lane (agent_id) VALUES (%s) ON CONFLICT DO NOTHING", (owner,)
            )
            put(connection, owner, name, chunks, alice.reader.models)
    return alice


def search(reader: Reader, query: str, **fields: Any) -> list[Hit]:
    return Search(*reader.parts).run("alice", SearchRequest(query=query, **fields)).hits


def test_a_document_is_found_among_messages(reader: Reader, indexed: Stored):
    best = search(reader, "How often is the brass valve turned?")[0]
    assert best.source is Source.DOCUMENT
    assert best.text == "Guide › Pump\nTurn the brass valve twice before the pump starts."
    assert best.document is not None
    assert (best.document.name, best.document.collection) == ("docs/guide.md", None)
    assert (best.document.path, best.document.first_line) == ("Guide › Pump", 4)
    assert (best.message_ids, best.node_id, best.page) == ([], None, None)


def test_chinese_documents_are_found(reader: Reader, indexed: Stored):
    best = search(reader, "水泵多久检查一次？")[0]
    assert best.document is not None
    assert (best.document.name, best.document.page) == ("docs/guide.md", 2)


def test_a_collection_is_searched_only_if_it_is_named(reader: Reader, indexed: Stored):
    assert {hit.document.name for hit in search(reader, "pump") if hit.document} == {
        "docs/guide.md"
    }
    named = search(reader, "pump", collections=["machines"])
    found = {(hit.document.name, hit.document.collection) for hit in named if hit.document}
    assert ("pump.py", "machines") in found
    assert "secret.md" not in {name for name, _ in found}


@pytest.mark.parametrize("sources", [["code"], ["chat"]])
def test_the_error_names_a_missing_collection(reader: Reader, indexed: Stored, sources: list[str]):
    with pytest.raises(NotFoundError, match=r"there is no collection no\.such"):
        search(reader, "pump", collections=["machines", "no.such"], sources=sources)


def test_code_is_found_by_the_name_of_a_symbol(reader: Reader, indexed: Stored):
    for question in ("What does prime_pump do?", "Explain `Pump.prime_pump`", "Pump::prime_pump()"):
        best = search(reader, question, collections=["machines"])[0]
        assert best.source is Source.CODE
        assert best.document is not None
        assert (best.document.symbol, best.document.first_line) == ("Pump.prime_pump", 10)


@pytest.mark.parametrize(
    "filters",
    [{"roles": ["user"]}, {"names": ["Ann"]}, {"since": "2020-01-01T00:00:00Z"}, {"tags": ["x"]}],
    ids=str,
)
def test_filters_on_messages_exclude_documents(
    reader: Reader, indexed: Stored, filters: dict[str, Any]
):
    hits = search(reader, "pump ferry", collections=["machines"], filters=filters)
    assert not [hit for hit in hits if hit.document]


def test_each_source_works_alone(reader: Reader, indexed: Stored):
    for source in (Source.DOCUMENT, Source.CODE):
        hits = search(reader, "pump valve", collections=["machines"], sources=[source])
        assert {hit.source for hit in hits} == {source}


def test_a_context_quotes_documents_before_messages(reader: Reader, indexed: Stored):
    request = ContextRequest(
        query="When does the ferry leave, and how is the valve of prime_pump turned?",
        budget_tokens=400,
        collections=["machines"],
    )
    answer = ContextReader(*reader.parts).run("alice", request)
    sections = [str(each.section) for each in answer.items]
    order = ["code", "document", "history", "memory", "recent", "query"]
    assert sections == sorted(sections, key=order.index)
    text = "".join(each.text for each in answer.items)
    for quote in ("docs/guide.md", "brass valve", "pump.py", "def prime_pump(valve):", "at eight"):
        assert quote in text
    assert answer.tokens <= 400
