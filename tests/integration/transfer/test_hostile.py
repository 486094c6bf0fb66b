"""Archives that somebody has made up or broken: each is refused, and nothing of it is kept."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any
from zipfile import ZIP_BZIP2

import pytest
import redis

from memci.broker.redis_queues import RedisAgentQueues
from memci.commands import erase
from memci.errors import ConflictError, ErasedError, InvalidInputError, TooLargeError
from memci.schemas.archive import FORMAT_VERSION, MANIFEST
from memci.storage.archive.consistency import LAWS
from memci.storage.archive.export import EXPORTED_TABLES
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.schema import metadata
from memci.storage.session import Database
from tests.integration.transfer.forged_pages import PAGES, TREES
from tests.integration.transfer.forged_rows import CONTRADICTIONS, VALUES
from tests.support.archives import (
    RecordedWakeups,
    another_database,
    exported,
    files_of,
    forged,
    imported,
    zipped,
)
from tests.support.complete_agent import complete_agent
from tests.support.databases import Databases
from tests.support.erasing import bury
from tests.support.network import AgentUnderTest


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[bytes]:
    with another_database(databases) as database:
        yield exported(complete_agent(database).database)


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
    assert any(law in said for law in LAWS) or f"tables/{table}.jsonl" in said


def test_every_law_holds_for_what_there_is(ada: AgentUnderTest) -> None:
    with ada.database.agent_snapshot("ada") as connection:
        for law, statement in LAWS.items():
            assert connection.exec_driver_sql(statement, {"agent": "ada"}).first() is None, law


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
    waking: Any = RecordedWakeups()
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
    assert {each.name for each in EXPORTED_TABLES} == forgeries
