"""The settings choose the page store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memci.config.settings import Settings, check_shared, load_settings
from memci.errors import ConfigurationError, NotFoundError
from memci.http import __main__ as api
from memci.runtime import Runtime
from memci.storage.page_store.choose import choose_page_store, open_page_store
from memci.storage.page_store.local import FilePageStore, MemoryPageStore
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.page_store.s3 import S3PageStore
from memci.storage.session import Database

KEY = TextKey("ada", "usr-1", 1)
URLS = {"database_url": "postgresql://nowhere/x", "broker_url": "redis://nowhere"}


def settings(**values: Any) -> Settings:
    return load_settings(**URLS, **values)


@pytest.fixture
def database() -> Database:
    return Database(URLS["database_url"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("postgres", PostgresPageStore),
        ("files", FilePageStore),
        ("files:///notes", FilePageStore),
        ("s3://notes", S3PageStore),
        ("s3://notes/a/b?endpoint=https://s3.example.org&region=eu-1", S3PageStore),
        ("memory", MemoryPageStore),
    ],
)
def test_each_store_is_opened_by_its_name_without_a_connection(
    name: str, kind: type[PageStore], database: Database
):
    chosen = settings(page_store=name)
    assert type(open_page_store(name, chosen, database)) is kind
    assert Runtime(chosen).page_store.is_remote == (kind in {FilePageStore, S3PageStore})


def test_files_are_in_the_data_folder_or_in_the_given_one(tmp_path: Path, database: Database):
    there = tmp_path / "there"
    for folder, address in ((tmp_path / "pages", "files"), (there, f"files://{there}")):
        chosen = settings(page_store=address, data_dir=tmp_path)
        choose_page_store(chosen, database).save(KEY, "…")
        assert len([each for each in folder.rglob("*.txt") if each.is_file()]) == 1


def test_the_other_store_is_read_also_and_not_written(tmp_path: Path, database: Database):
    chosen = settings(page_store="memory", page_store_reads_also=f"files://{tmp_path}")
    store = choose_page_store(chosen, database)
    FilePageStore(tmp_path).save(KEY, "From before")
    assert store.load(KEY) == "From before"
    store.save(KEY._replace(version=2), "New")
    with pytest.raises(NotFoundError):
        FilePageStore(tmp_path).load(KEY._replace(version=2))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"page_store": "s3"}, "MEMCI_PAGE_STORE: expected postgres, files"),
        ({"page_store": "s3:///notes"}, "MEMCI_PAGE_STORE: expected the name of a bucket"),
        ({"page_store_reads_also": "postgres"}, "postgres is the page store itself"),
        ({"page_store_reads_also": "memory"}, "MEMCI_PAGE_STORE_READS_ALSO"),
        ({"page_store": "redis"}, "MEMCI_PAGE_STORE: "),
        ({"page_store": "files://word-of-mine"}, "MEMCI_PAGE_STORE: expected postgres, files"),
        ({"page_store": "s3://notes?endpoint=s3.example.org"}, "expected an endpoint such as"),
        ({"page_store": "s3://notes?endpoint=https://me:word-of-mine@s3"}, "without credentials"),
        ({"page_store": "s3://notes/a/../b"}, "expected a prefix"),
        ({"page_store": "s3://notes//a"}, "expected a prefix"),
        ({"page_store": "s3://notes?word-of-mine=1"}, "only the options endpoint, region"),
        ({"page_store": "s3://notes?addressing=host"}, "expected the addressing"),
    ],
)
def test_a_bad_store_is_refused_and_not_quoted(values: dict[str, Any], message: str):
    with pytest.raises(ConfigurationError) as refused:
        settings(**values)
    assert message in str(refused.value)
    assert "word-of-mine" not in str(refused.value)


def test_an_empty_prefix_is_allowed(database: Database):
    chosen = settings(page_store="s3://notes/")
    store = open_page_store(chosen.page_store, chosen, database)
    assert isinstance(store, S3PageStore)
    assert "/" not in store._home("ada").rstrip("/")


def test_the_memory_store_is_refused_for_several_processes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(ConfigurationError, match=r"postgres \(the default\), files or s3"):
        check_shared(settings(page_store="memory"))
    check_shared(settings())
    for name, value in {**URLS, "page_store": "memory"}.items():
        monkeypatch.setenv(f"MEMCI_{name.upper()}", value)
    assert api.main() == 1
    assert "tests and short runs of a single process" in capsys.readouterr().err
