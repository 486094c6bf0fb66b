"""Archives that somebody has made up or broken: each is refused, and nothing of it is kept."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import uuid4
from zipfile import ZIP_BZIP2

import pytest
import redis

from memci.broker.redis_queues import RedisAgentQueues
from memci.commands import erase
from memci.errors import ConflictError, ErasedError, InvalidInputError, TooLargeError
from memci.shapes.archive import FORMAT_VERSION, MANIFEST
from memci.storage.archive.consistency import LAWS
from memci.storage.archive.registry import CARRIED
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.rows import metadata
from memci.storage.session import Database
from tests.integration.transfer.forged_pages import PAGES, TREES
from tests.support.archives import (
    Change,
    Told,
    another_database,
    each,
    exported,
    files_of,
    first,
    forged,
    imported,
    zipped,
)
from tests.support.databases import Databases
from tests.support.erasing import bury
from tests.support.lives import a_whole_life
from tests.support.network import AgentUnderTest


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[bytes]:
    with another_database(databases) as database:
        yield exported(a_whole_life(database).database)


@pytest.fixture(scope="module")
def elsewhere(databases: Databases) -> Iterator[Database]:
    """One for all: what is refused leaves nothing behind."""
    with another_database(databases) as database:
        yield database


def refused(database: Database, archive: bytes, **how: Any) -> str:
    """What is said about an archive, of which nothing may be left."""
    with pytest.raises(InvalidInputError) as raised:
        imported(database, archive, **how)
    assert rows_left(database) == {}
    return str(raised.value)


def rows_left(database: Database, agent_id: str = "ada") -> dict[str, int]:
    with database.agent_snapshot(agent_id) as connection:
        counts = {
            each.name: connection.exec_driver_sql(
                f"SELECT count(*) FROM {each.name} WHERE agent_id = %s", (agent_id,)
            ).scalar_one()
            for each in metadata.sorted_tables
            if each.schema is None and "agent_id" in each.columns
        }
    return {name: count for name, count in counts.items() if count}


def happened(event: str, *, seeded: bool = True, **details: Any) -> Change:
    """Another event, as no release has told it."""
    job_id = {"job_id": str(uuid4()) if seeded else None}

    def change(rows: list[Any]) -> None:
        more = job_id if "job_id" in rows[0] else {}
        rows.append({**rows[0], **more, "event": event, "details": details})

    return change


AT, JOB = "2026-01-01T00:00:00+00:00", str(uuid4())
VALUES: dict[str, tuple[str, Change]] = {
    "a summary of so many tokens that none counts them": ("summary", first(tokens=2**31)),
    "a summary of users without names": ("summary", first(users=[1])),
    "a line that is not JSON": ("message", lambda rows: rows.append("{")),
    "a line that is not an object": ("message", lambda rows: rows.append("[]")),
    "a column that no table has": ("message", first(agent_id="bob")),
    "a column too few": ("node", lambda rows: rows[0].pop("phrase")),
    "a field given twice": (
        "focus", lambda rows: rows.append('{"node_id": 1, "node_id": 1, "mentioned": 1}')
    ),
    "a number that is none": (
        "focus", lambda rows: rows.append('{"node_id": NaN, "mentioned": 1}')
    ),
    "a seq that is text": ("message", first(seq="1; DROP TABLE message")),
    "a seq below one": ("message", first(seq=0)),
    "a seq that leaves no next one": ("message", first(seq=2**63 - 1)),
    "a truth for a number": ("focus", first(mentioned=True)),
    "a role that nobody has": ("message", first(role="root")),
    "a state that jobs do not have": ("job", first(state="running")),
    "a state that steps do not have": ("plan_step", first(state="paused")),
    "a step of no place": ("plan_step", first(position=0)),
    "an event that does not happen": ("trail", first(event="dreamed")),
    "a strength above one": ("link", first(strength=1.5)),
    "a strength below zero": ("link", first(strength=-0.1)),
    "a time without a zone": ("message", first(said_at="2026-01-01T00:00:00")),
    "a time that is infinite": ("message", first(said_at="infinity")),
    "an id of no length": ("message", first(id="")),
    "a name with U+0000": ("message", first(content="a\u0000b")),
    "a word that no index takes": ("message_term", first(term=Random(1).randbytes(20_000).hex())),
    "half a surrogate pair": ("message", lambda rows: rows.__setitem__(
        0, json.dumps({**rows[0], "content": "\ud800"}))),
    "a vector that is not one": ("message_vector", first(embedding="AAA")),
    "a vector without end": ("message_vector", first(embedding="fAA=")),
    "a vector of no unit length": ("node_vector", first(embedding="ZAA=")),
    "a parameter that is none": ("agent_setting", first(parameters={"decay_rate": 7})),
    "a parameter that nobody knows": ("agent_setting", first(parameters={"speed": 7})),
    "a trail whose messages are text": ("trail", first(details={"messages": ["1"]})),
    "a trail of half a span": ("trail", first(details={"messages": [1], "span": [1]})),
    "a trail of something made of what": ("trail", happened("created", job=JOB)),
    "a trail of something made of nothing": ("trail", happened("created", messages=None)),
    "a trail of a kind that is none": ("trail", happened("created", messages=[1], kind="x")),
    "a trail of a merger of text": ("trail", happened("created", messages=[1], **{"from": ["1"]})),
    "a trail of a job that is none": ("trail", happened("created", messages=[1], job="x")),
    "a trail of a shortening to text": (
        "trail", happened("compressed", to="x", **{"from": 9})),
    "a trail of forgetting for a whim": ("trail", happened("forgotten", reason="whim")),
    "a trail of a tier that is none": (
        "trail", happened("forgotten", reason="slot", tier="high")),
    "a trail of restoring as text": ("trail", happened("restored", job=JOB, **{"as": "1"})),
    "a trail of restoring by nobody": ("trail", happened("restored", **{"as": 1})),
    "a trail of a merger into text": ("trail", happened("merged", into="1")),
    "a trail of a promotion for nothing": ("trail", happened("promoted", reason=None)),
    "a trail of being superseded by text": ("trail", happened("superseded", by="1")),
    "a trail of a use by no receipt": ("trail", happened("used", receipts=["x"], times=1)),
    "a log of a mention of nobody": ("replay_log", happened("mentioned")),
    "a log of a mention of a blank": ("replay_log", happened("mentioned", entity=" ")),
    "a log of a mention without end": ("replay_log", happened("mentioned", entity="x" * 9_999)),
    "a log of a mention by no job": ("replay_log", happened("mentioned", seeded=False, entity="x")),
    "a log of a creation by no job": ("replay_log", happened("created", seeded=False)),
    "a log of a refusal for a whim": ("replay_log", happened("created", refused={"1": "whim"})),
    "a log of a refusal of text": ("replay_log", happened("created", refused={"x": "trivial"})),
    "a log of restoring nothing": ("replay_log", happened("restored", node=1)),
    "a log of restoring no node": ("replay_log", happened("restored", seqs=[1])),
    "a log of consolidating at no time": ("replay_log", happened("consolidated", settled=[])),
    "a log of consolidating any day": (
        "replay_log", happened("consolidated", at="2026-01-01", settled=[])),
    "a log of consolidating what": ("replay_log", happened("consolidated", at=AT)),
    "a log of settling two thirds": (
        "replay_log", happened("consolidated", at=AT, settled=[[[1], []]])),
    "a log of settling for a whim": (
        "replay_log", happened("consolidated", at=AT, settled=[[[1], [], "whim"]])),
    "a log of settling no messages": (
        "replay_log", happened("consolidated", at=AT, settled=[[None, [], None]])),
    "a trail of parts of no message": ("trail", first(details={"messages": [1], "parts": [{}]})),
    "a job of parts that quote text": (
        "job", first(payload={"seqs": [1], "parts": [{"seqs": [1], "quoted": ["1"]}]})),
    "a job whose messages are text": ("job", first(payload={"seqs": ["x"]})),
    "a tombstone of another hash": ("erased_message", first(digest="\\xab")),
    "a place in a pass of text": (
        "lane", first(compress_cursor={"pass": 1, "req": 1, "mute": "x"})),
    "a place in a pass that is none": ("lane", first(compress_cursor={"retry_at": "soon"})),
    "a log whose messages are text": ("replay_log", first(details={"wanted": ["1"]})),
    "a receipt of no prefix": ("receipt", first(body={"prefix": [1]})),
    "a document of no name": ("document", first(name="a\nb")),
    "a document in no state": ("document", first(state="lost")),
    "a chunk of no kind": ("chunk", first(kind="poem")),
    "bytes in no hexadecimal digits": ("letter", first(body="\\xzz")),
    "an item kept at no time": ("item", first(created_at="soon")),
    "a checkpoint whose body is no bytes": ("checkpoint", first(body="\\xzz")),
    "a value of a channel that is no bytes": ("checkpoint_value", first(body="\\xzz")),
    "a write at a place that is none": ("checkpoint_write", first(place="x")),
    "nesting without bottom": ("job", lambda rows: rows.append('{"a":' * 99_999 + "}" * 99_999)),
}  # fmt: skip
CONTRADICTIONS: dict[str, tuple[str, Change]] = {
    "two messages with one seq": ("message", lambda rows: rows.append({**rows[0], "id": "other"})),
    "two messages with one id": ("message", lambda rows: rows.append({**rows[0], "seq": 2})),
    "a pin of a message that is missing": ("pin", each(message_seq=999, text="")),
    "a pin of a message with words of its own": ("pin", each(message_seq=1)),
    "a pin without words": ("pin", first(text="")),
    "a pin of a part that is none": ("pin", each(span_start=5, span_end=5)),
    "a pin of a part of no message": ("pin", first(span_start=1, span_end=5)),
    "a plan that no message made": ("plan", each(made_seq=999)),
    "a step of no plan": ("plan_step", each(made_seq=1)),
    "a step that nobody has said": ("plan_step", first(said_seq=999)),
    "a step that ends with what was never said": ("plan_step", each(last_seq=2**40)),
    "a look at what was never said": ("tracking", first(seq=2**40)),
    "a message above all seqs": ("message", lambda rows: rows[-1].update(seq=1000)),
    "a message that is missing": ("message", lambda rows: rows.pop()),
    "a node above all ids": ("node", lambda rows: rows[-1].update(id=9999)),
    "a node made of no message": ("node", each(message_seqs=[])),
    "a node of a message that is missing": ("node", each(message_seqs=[1, 999])),
    "an entity of messages to come": (
        "node",
        lambda rows: [row.update(message_seqs=[999]) for row in rows if row["kind"] == "entity"],
    ),
    "a node scanned in a pass to come": ("node", first(last_pass=999)),
    "a memory with the key of an entity": ("node", each(entity_key="x", kind="memory")),
    "two nodes in one slot": ("node", each(slot=1)),
    "a link of no node": ("link", first(source=999)),
    "a link to a node that never was": ("link", first(target=999)),
    "a focus that is no node": ("focus", first(node_id=999)),
    "a document that nobody counts": (
        "document",
        lambda rows: rows.append({**rows[0], "id": 1, "name": "other.md"}),
    ),
    "a document above all ids": ("document", first(id=99)),
    "the bytes of no document": ("document_body", first(document_id=99)),
    "a chunk of no document": ("chunk", first(document_id=99)),
    "a chunk that is gone": ("chunk", lambda rows: rows.pop()),
    "a vector of no chunk": ("chunk_vector", first(chunk_id=99)),
    "a posting that nobody counts": ("chunk_term", lambda rows: rows.clear()),
    "a claim of no node": ("claim", first(node_id=999)),
    "a posting of no message": ("message_term", first(seq=999)),
    "a posting of no node": ("node_term", first(node_id=999)),
    "a vector of no message": ("message_vector", first(seq=999)),
    "a vector of another dimension": ("node_vector", first(embedding="AAA=")),
    "postings that were not counted": ("lane", first(indexed_terms=0)),
    "erased messages that were not counted": ("lane", first(erased_messages=0)),
    "no lane": ("lane", lambda rows: rows.clear()),
    "two settings": ("agent_setting", lambda rows: rows.append(rows[0])),
    "two lanes": ("lane", lambda rows: rows.append(rows[0])),
    "a lane halted by no job": ("lane", first(halted_by=str(uuid4()))),
    "a pass under way that never began": ("lane", first(compress_cursor={"pass": 99, "req": 1})),
    "a letter of no job": ("letter", first(job_id=str(uuid4()))),
    "a job that ends before it begins": ("job", first(first_seq=2, last_seq=1)),
    "a job for messages to come": ("job", first(first_seq=1, last_seq=999)),
    "a version of a message that is missing": ("node_version", first(message_seqs=[999])),
    "a session that ends later": ("session_end", first(seq=999)),
    "a summary of what is to be said": ("summary", first(through_seq=999)),
    "a summary that has counted what is to be said": ("summary", first(counted_seq=999)),
    "a summary that ends before it begins": ("summary", first(from_seq=4)),
    "a snapshot with a list too short": ("pass_snapshot", first(lengths=[])),
    "a pass to come": ("pass_log", first(number=999)),
    "an erased message that is there": (
        "erased_message",
        # SHA-256 of "last".
        first(digest="\\x3547cb112ac4489af2310c0626cdba6f3097a2ad5a3b42ddd3b59c76c7a079a3"),
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_that_are_none(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = PAGES[name]
    said = refused(elsewhere, forged(archive, table, change))
    assert f"tables/{table}.jsonl, line" in said


@pytest.mark.parametrize("name", TREES)
def test_trees_that_hang_together_nowhere(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = TREES[name]
    said = refused(elsewhere, forged(archive, table, change))
    assert "contradict" in said


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_no_column_holds(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = VALUES[name]
    said = refused(elsewhere, forged(archive, table, change))
    assert f"tables/{table}.jsonl" in said


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_rows_that_contradict_each_other(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = CONTRADICTIONS[name]
    said = refused(elsewhere, forged(archive, table, change))
    assert any(law.says in said for law in LAWS) or f"tables/{table}.jsonl" in said


def test_every_law_holds_for_what_there_is(ada: AgentUnderTest) -> None:
    with ada.database.agent_snapshot("ada") as connection:
        for law in LAWS:
            assert connection.exec_driver_sql(law.broken, {"agent": "ada"}).first() is None, law


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"not a zip" * 100, b"PK\x05\x06" + bytes(18)], ids=len
)
def test_what_is_no_archive(content: bytes, elsewhere: Database) -> None:
    refused(elsewhere, content)


def test_a_zip_of_something_else(elsewhere: Database) -> None:
    assert "no manifest.json" in refused(elsewhere, zipped({"a.txt": b"a"}))
    assert "says otherwise" in refused(elsewhere, zipped({MANIFEST: b'{"format": "photos"}'}))
    assert "not JSON" in refused(elsewhere, zipped({MANIFEST: b"{"}))


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "inner.zip", "tables/x.jsonl"])
def test_a_file_that_is_not_ours(name: str, archive: bytes, elsewhere: Database) -> None:
    files = {**files_of(archive), name: b"x"}
    assert "has not the files" in refused(elsewhere, zipped(files))


def test_a_file_that_is_missing(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    del files["tables/link.jsonl"]
    assert "has not the files" in refused(elsewhere, zipped(files))


def test_a_file_that_is_not_what_the_manifest_tells(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    files["tables/link.jsonl"] += b"\n"
    assert "tables/link.jsonl is not the file" in refused(elsewhere, zipped(files))
    files = files_of(archive)
    text = files["tables/link.jsonl"]
    files["tables/link.jsonl"] = text.replace(b'"strength":', b'"strength" :', 1)[:-2] + b"}\n"
    assert "tables/link.jsonl" in refused(elsewhere, zipped(files))


def test_counts_that_are_not_so(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    manifest = json.loads(files[MANIFEST])
    manifest["tables"]["link"]["rows"] -= 1
    files[MANIFEST] = json.dumps(manifest).encode()
    assert "tables/link.jsonl, line" in refused(elsewhere, zipped(files))


@pytest.mark.parametrize(
    ("version", "what"),
    [(FORMAT_VERSION - 1, "made the archive"), (FORMAT_VERSION + 1, "is to import it")],
)
def test_another_version(version: int, what: str, archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    manifest = json.loads(files[MANIFEST]) | {"version": version, "new": "field"}
    said = refused(elsewhere, zipped({**files, MANIFEST: json.dumps(manifest).encode()}))
    assert f"format {version}" in said
    assert what in said


def test_a_bomb_that_says_so(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive) | {"tables/link.jsonl": b"0" * 3_000_000}
    with pytest.raises(TooLargeError, match="would unpack to more than"):
        imported(elsewhere, zipped(files), max_bytes=64 * 1024)
    assert rows_left(elsewhere) == {}


def test_a_bomb_that_says_that_it_is_small(archive: bytes, elsewhere: Database) -> None:
    """Its directory says the size of what the manifest tells of."""
    files = files_of(archive)
    size = len(files["tables/link.jsonl"])
    bomb = zipped(files | {"tables/link.jsonl": b"0" * 30_000_000})
    lying = bomb.replace(struct.pack("<I", 30_000_000), struct.pack("<I", size))
    assert lying != bomb
    refused(elsewhere, lying)


def test_a_directory_of_a_million_files(archive: bytes, elsewhere: Database) -> None:
    said = refused(elsewhere, zipped({f"{number:0200}": b"" for number in range(6000)}))
    assert "directory is larger" in said


def test_a_line_without_end(archive: bytes, elsewhere: Database) -> None:
    long = '{"node_id": 1, "mentioned": 1' + " " * 33 * 1024 * 1024 + "}"
    said = refused(elsewhere, forged(archive, "focus", lambda rows: rows.append(long)))
    assert "too long" in said


def test_another_way_of_packing(archive: bytes, elsewhere: Database) -> None:
    assert "not deflated" in refused(elsewhere, zipped(files_of(archive), ZIP_BZIP2))


def test_two_files_of_one_name(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    doubled = zipped({**files, "tables/linK.jsonl": files["tables/link.jsonl"]})
    assert "two files" in refused(elsewhere, doubled.replace(b"linK", b"link"))


def test_an_archive_cut_anywhere(archive: bytes, elsewhere: Database) -> None:
    for share in range(1, 10):
        refused(elsewhere, archive[: len(archive) * share // 10])


def test_an_archive_with_any_byte_changed(archive: bytes, elsewhere: Database) -> None:
    """Refused, or without meaning: what comes in is what was sent, or nothing."""
    for at in range(7, len(archive), len(archive) // 20):
        damaged = archive[:at] + bytes([archive[at] ^ 0xFF]) + archive[at + 1 :]
        try:
            imported(elsewhere, damaged, f"agent{at}")
        except InvalidInputError:
            assert rows_left(elsewhere, f"agent{at}") == {}
        else:
            assert files_of(exported(elsewhere, f"agent{at}")).keys() == files_of(archive).keys()


def test_an_agent_that_holds_something_is_left_as_it_is(ada: AgentUnderTest) -> None:
    before = rows_left(ada.database)
    with pytest.raises(ConflictError, match="import under another id"):
        imported(ada.database, exported(ada.database))
    assert rows_left(ada.database) == before


def test_what_was_erased_here_does_not_come_back(archive: bytes, elsewhere: Database) -> None:
    bury(elsewhere, "bob", "last", "x2", "?")
    with pytest.raises(ErasedError, match="2 of the archive's messages were erased for good"):
        imported(elsewhere, archive, "bob")
    assert rows_left(elsewhere, "bob") == {"erased_message": 3}


def test_an_erased_agent_does_not_come_back(ada: AgentUnderTest, client: redis.Redis) -> None:
    archive = exported(ada.database)
    seq, node = ada.lane().message_seq, ada.lane().last_node_id
    waking: Any = Told()
    erase.run_agent(
        ada.database, PostgresPageStore(ada.database), waking, RedisAgentQueues(client), "ada"
    )
    with pytest.raises(ErasedError, match="erase them where the archive comes from"):
        imported(ada.database, archive)
    assert ada.nodes() == []
    assert (ada.lane().message_seq, ada.lane().last_node_id) == (seq, node)


def test_every_table_has_a_forgery() -> None:
    told = (*VALUES.values(), *CONTRADICTIONS.values(), *PAGES.values(), *TREES.values())
    forgeries = {table for table, _ in told}
    assert {each.name for each in CARRIED} == forgeries
