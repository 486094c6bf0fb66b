"""Which page store the settings mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memci.config.settings import Settings, load_settings
from memci.errors import ConfigurationError, NotFoundError
from memci.http import __main__ as api
from memci.runtime import Runtime
from memci.storage.page_store.choose import check_shared, choose_page_store, open_page_store
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
def nowhere() -> Database:
    return Database(URLS["database_url"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("postgres", PostgresPageStore),
        ("files", FilePageStore),
        ("s3", S3PageStore),
        ("memory", MemoryPageStore),
    ],
)
def test_each_is_opened_by_its_name_without_connecting(
    name: str, kind: type[PageStore], nowhere: Database
):
    chosen = settings(page_store=name, page_s3_bucket="notes")
    assert type(open_page_store(name, chosen, nowhere)) is kind
    assert Runtime(chosen).page_store.far == (name in {"files", "s3"})


def test_files_lie_in_the_data_folder_or_where_it_says(tmp_path: Path, nowhere: Database):
    for folder, values in (
        (tmp_path / "pages", {}),
        (tmp_path / "there", {"page_folder": tmp_path / "there"}),
    ):
        chosen = settings(page_store="files", data_dir=tmp_path, **values)
        choose_page_store(chosen, nowhere).save(KEY, "…")
        assert len([each for each in folder.rglob("*.txt") if each.is_file()]) == 1


def test_the_other_store_is_read_also_and_not_written(tmp_path: Path, nowhere: Database):
    chosen = settings(page_store="memory", page_store_reads_also="files", page_folder=tmp_path)
    store = choose_page_store(chosen, nowhere)
    FilePageStore(tmp_path).save(KEY, "From before")
    assert store.load(KEY) == "From before"
    store.save(KEY._replace(version=2), "New")
    with pytest.raises(NotFoundError):
        FilePageStore(tmp_path).load(KEY._replace(version=2))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"page_store": "s3"}, "needs a bucket: set MEMCI_PAGE_S3_BUCKET"),
        ({"page_store_reads_also": "s3"}, "needs a bucket"),
        ({"page_store_reads_also": "postgres"}, "postgres is the page store itself"),
        ({"page_store_reads_also": "memory"}, "MEMCI_PAGE_STORE_READS_ALSO"),
        ({"page_store": "redis"}, "MEMCI_PAGE_STORE: "),
        ({"page_s3_endpoint": "s3.example.org"}, "MEMCI_PAGE_S3_ENDPOINT: expected an address"),
        ({"page_s3_endpoint": "https://me:word-of-mine@s3"}, "without credentials"),
        ({"page_s3_prefix": "a/../b"}, "MEMCI_PAGE_S3_PREFIX"),
        ({"page_s3_prefix": "/a"}, "MEMCI_PAGE_S3_PREFIX"),
        ({"page_s3_bucket": "a/b"}, "MEMCI_PAGE_S3_BUCKET"),
        ({"page_sweep_grace_s": 1}, "MEMCI_PAGE_SWEEP_GRACE_S"),
    ],
)
def test_what_cannot_be_is_refused_and_not_quoted(values: dict[str, Any], said: str):
    with pytest.raises(ConfigurationError) as refused:
        settings(**values)
    assert said in str(refused.value)
    assert "word-of-mine" not in str(refused.value)


def test_an_empty_prefix_is_one(nowhere: Database):
    chosen = settings(page_store="s3", page_s3_bucket="notes", page_s3_prefix="")
    store = open_page_store("s3", chosen, nowhere)
    assert isinstance(store, S3PageStore)
    assert "/" not in store._home("ada").rstrip("/")


def test_memory_is_refused_where_others_would_not_see_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(ConfigurationError, match=r"postgres \(the default\), files or s3"):
        check_shared(settings(page_store="memory"))
    check_shared(settings())
    for name, value in {**URLS, "page_store": "memory"}.items():
        monkeypatch.setenv(f"MEMCI_{name.upper()}", value)
    assert api.main() == 1
    assert "tests and short runs of a single process" in capsys.readouterr().err
