"""Forged or damaged archives are refused, and leave no rows."""

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
    export_agent,
    files_of,
    forged,
    import_agent,
    zipped,
)
from tests.support.complete_agent import complete_agent
from tests.support.databases import Databases
from tests.support.erasing import mark_as_erased
from tests.support.network import AgentUnderTest


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[bytes]:
    with another_database(databases) as database:
        yield export_agent(complete_agent(database).database)


@pytest.fixture(scope="module")
def elsewhere(databases: Databases) -> Iterator[Database]:
    """The target of all imports; refused archives leave no rows in it."""
    with another_database(databases) as database:
        yield database


def refusal(database: Database, archive: bytes, **options: Any) -> str:
    """Import an archive that must be refused and leave no rows; return the error message."""
    with pytest.raises(InvalidInputError) as raised:
        import_agent(database, archive, **options)
    assert rows_left(database) == {}
    return str(raised.value)


def rows_left(database: Database, agent_id: str = "ada") -> dict[str, int]:
    with database.agent_snapshot(agent_id) as connection:
        counts = {
            each.name: connection.exec_driver_sql(
                f"SELECT count(*) FROM {each.name} WHERE agent_id = %s", (agent_id,)
            ).scalar_one()
            for each in metadata.sorted_tables
            if each.schema is None
        }
    return {name: count for name, count in counts.items() if count}


@pytest.mark.parametrize("name", PAGES)
def test_invalid_pages_are_refused(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = PAGES[name]
    message = refusal(elsewhere, forged(archive, table, change))
    assert f"tables/{table}.jsonl, line" in message


@pytest.mark.parametrize("name", TREES)
def test_inconsistent_trees_are_refused(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = TREES[name]
    message = refusal(elsewhere, forged(archive, table, change))
    assert "contradict" in message


@pytest.mark.parametrize("name", VALUES)
def test_invalid_values_are_refused(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = VALUES[name]
    message = refusal(elsewhere, forged(archive, table, change))
    assert f"tables/{table}.jsonl" in message


@pytest.mark.parametrize("table", [each.name for each in EXPORTED_TABLES])
def test_half_a_character_is_refused_in_every_text(
    table: str, archive: bytes, elsewhere: Database
) -> None:
    (row, *_) = map(json.loads, files_of(archive)[f"tables/{table}.jsonl"].splitlines())
    for name in (name for name, value in row.items() if isinstance(value, str)):
        line = json.dumps({**row, name: "\ud800"})

        def change(rows: list[Any], line: str = line) -> None:
            rows[0] = line

        message = refusal(elsewhere, forged(archive, table, change))
        assert f"tables/{table}.jsonl, line 1: " in message
        assert "half a character" in message


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictory_rows_are_refused(name: str, archive: bytes, elsewhere: Database) -> None:
    table, change = CONTRADICTIONS[name]
    message = refusal(elsewhere, forged(archive, table, change))
    assert any(law in message for law in LAWS) or f"tables/{table}.jsonl" in message


def test_every_law_holds_for_a_real_agent(ada: AgentUnderTest) -> None:
    with ada.database.agent_snapshot("ada") as connection:
        for law, statement in LAWS.items():
            assert connection.exec_driver_sql(statement, {"agent": "ada"}).first() is None, law


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"not a zip" * 100, b"PK\x05\x06" + bytes(18)], ids=len
)
def test_files_that_are_no_zip_are_refused(content: bytes, elsewhere: Database) -> None:
    refusal(elsewhere, content)


def test_a_zip_without_a_valid_manifest_is_refused(elsewhere: Database) -> None:
    assert "no manifest.json" in refusal(elsewhere, zipped({"a.txt": b"a"}))
    assert "says otherwise" in refusal(elsewhere, zipped({MANIFEST: b'{"format": "photos"}'}))
    assert "not JSON" in refusal(elsewhere, zipped({MANIFEST: b"{"}))


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "inner.zip", "tables/x.jsonl"])
def test_an_unknown_file_is_refused(name: str, archive: bytes, elsewhere: Database) -> None:
    files = {**files_of(archive), name: b"x"}
    assert "has not the files" in refusal(elsewhere, zipped(files))


def test_a_missing_file_is_refused(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    del files["tables/link.jsonl"]
    assert "has not the files" in refusal(elsewhere, zipped(files))


def test_a_file_unlike_its_manifest_entry_is_refused(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    files["tables/link.jsonl"] += b"\n"
    assert "tables/link.jsonl is not the file" in refusal(elsewhere, zipped(files))
    files = files_of(archive)
    text = files["tables/link.jsonl"]
    files["tables/link.jsonl"] = text.replace(b'"strength":', b'"strength" :', 1)[:-2] + b"}\n"
    assert "tables/link.jsonl" in refusal(elsewhere, zipped(files))


def test_wrong_counts_in_the_manifest_are_refused(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    manifest = json.loads(files[MANIFEST])
    manifest["tables"]["link"]["rows"] -= 1
    files[MANIFEST] = json.dumps(manifest).encode()
    assert "tables/link.jsonl, line" in refusal(elsewhere, zipped(files))


@pytest.mark.parametrize(
    ("version", "expected"),
    [(FORMAT_VERSION - 1, "made the archive"), (FORMAT_VERSION + 1, "is to import it")],
)
def test_another_version(version: int, expected: str, archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    manifest = json.loads(files[MANIFEST]) | {"version": version, "new": "field"}
    message = refusal(elsewhere, zipped({**files, MANIFEST: json.dumps(manifest).encode()}))
    assert f"format {version}" in message
    assert expected in message


def test_a_zip_bomb_with_its_real_size_is_refused(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive) | {"tables/link.jsonl": b"0" * 3_000_000}
    with pytest.raises(TooLargeError, match="would unpack to more than"):
        import_agent(elsewhere, zipped(files), max_bytes=64 * 1024)
    assert rows_left(elsewhere) == {}


def test_a_zip_bomb_with_a_forged_size_is_refused(archive: bytes, elsewhere: Database) -> None:
    """Its directory has the size that the manifest names."""
    files = files_of(archive)
    size = len(files["tables/link.jsonl"])
    bomb = zipped(files | {"tables/link.jsonl": b"0" * 30_000_000})
    lying = bomb.replace(struct.pack("<I", 30_000_000), struct.pack("<I", size))
    assert lying != bomb
    refusal(elsewhere, lying)


def test_a_directory_of_too_many_files_is_refused(archive: bytes, elsewhere: Database) -> None:
    message = refusal(elsewhere, zipped({f"{number:0200}": b"" for number in range(6000)}))
    assert "directory is larger" in message


def test_a_too_long_line_is_refused(archive: bytes, elsewhere: Database) -> None:
    long = '{"node_id": 1, "mentioned": 1' + " " * 33 * 1024 * 1024 + "}"
    message = refusal(elsewhere, forged(archive, "focus", lambda rows: rows.append(long)))
    assert "too long" in message


def test_another_compression_method_is_refused(archive: bytes, elsewhere: Database) -> None:
    assert "not deflated" in refusal(elsewhere, zipped(files_of(archive), ZIP_BZIP2))


def test_two_files_of_one_name_are_refused(archive: bytes, elsewhere: Database) -> None:
    files = files_of(archive)
    doubled = zipped({**files, "tables/linK.jsonl": files["tables/link.jsonl"]})
    assert "two files" in refusal(elsewhere, doubled.replace(b"linK", b"link"))


def test_a_truncated_archive_is_refused(archive: bytes, elsewhere: Database) -> None:
    for share in range(1, 10):
        refusal(elsewhere, archive[: len(archive) * share // 10])


def test_a_damaged_archive_is_refused_or_harmless(archive: bytes, elsewhere: Database) -> None:
    """If it is not refused, the imported agent has the same files."""
    for at in range(7, len(archive), len(archive) // 20):
        damaged = archive[:at] + bytes([archive[at] ^ 0xFF]) + archive[at + 1 :]
        try:
            import_agent(elsewhere, damaged, f"agent{at}")
        except InvalidInputError:
            assert rows_left(elsewhere, f"agent{at}") == {}
        else:
            assert (
                files_of(export_agent(elsewhere, f"agent{at}")).keys() == files_of(archive).keys()
            )


def test_an_import_over_an_existing_agent_changes_nothing(ada: AgentUnderTest) -> None:
    before = rows_left(ada.database)
    with pytest.raises(ConflictError, match="import under another id"):
        import_agent(ada.database, export_agent(ada.database))
    assert rows_left(ada.database) == before


def test_an_import_does_not_restore_erased_messages(archive: bytes, elsewhere: Database) -> None:
    mark_as_erased(elsewhere, "bob", "last", "x2", "?")
    with pytest.raises(ErasedError, match="2 of the archive's messages were erased for good"):
        import_agent(elsewhere, archive, "bob")
    assert rows_left(elsewhere, "bob") == {"erased_message": 3}


def test_an_erased_agent_is_not_imported_again(ada: AgentUnderTest, client: redis.Redis) -> None:
    archive = export_agent(ada.database)
    seq, node = ada.lane().message_seq, ada.lane().last_node_id
    waking: Any = RecordedWakeups()
    erase.run_agent(
        ada.database, PostgresPageStore(ada.database), waking, RedisAgentQueues(client), "ada"
    )
    with pytest.raises(ErasedError, match="erase them where the archive comes from"):
        import_agent(ada.database, archive)
    assert ada.nodes() == []
    assert (ada.lane().message_seq, ada.lane().last_node_id) == (seq, node)


def test_every_table_has_a_forgery() -> None:
    all_forgeries = (*VALUES.values(), *CONTRADICTIONS.values(), *PAGES.values(), *TREES.values())
    forgeries = {table for table, _ in all_forgeries}
    assert {each.name for each in EXPORTED_TABLES} == forgeries
