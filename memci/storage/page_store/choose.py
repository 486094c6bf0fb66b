"""Chooses the page store by the settings, and deletes texts verifiably (P14, M25)."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path

from memci.config.settings import Settings
from memci.errors import ConfigurationError, PageStoreError
from memci.storage.page_store.local import FilePageStore, FolderPresence, MemoryPageStore
from memci.storage.page_store.port import PageStore, TextKey, delete_many
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.page_store.s3 import Bucket, S3PageStore
from memci.storage.page_store.wrappers import CachedPageStore, MovingPageStore, TextCache
from memci.storage.session import Database

_FOLDER = "pages"  # in the data folder


def choose_page_store(settings: Settings, database: Database) -> PageStore:
    """Return the configured store, with the second one that is read, behind a cache.

    Nothing connects before its first use.
    """
    store, also = settings.page_store, settings.page_store_reads_also
    chosen = open_page_store(store, settings, database, in_use=also is None)
    if also is not None:
        former = open_page_store(also, settings, database, in_use=True)
        chosen = MovingPageStore(chosen, former)
    far = not {store, also} <= {"postgres", "memory", None}
    cache = TextCache(settings.page_cache_bytes)
    if store == "files" and also is None:  # otherwise texts may be in the other store
        presence = FolderPresence(_folder(settings), database)
        return CachedPageStore(chosen, cache, far=far, check=presence.check)
    return CachedPageStore(chosen, cache, far=far)


def open_page_store(
    name: str, settings: Settings, database: Database, *, in_use: bool = False
) -> PageStore:
    """Return a store without a cache by its name in the settings.

    A store ``in_use`` has texts: if its folder is missing, it raises an error.
    """
    match name:
        case "postgres":
            return PostgresPageStore(database)
        case "files":
            folder = _folder(settings)
            return FilePageStore(folder, FolderPresence(folder, database) if in_use else None)
        case "s3":
            return S3PageStore(_bucket(settings))
        case "memory":
            return MemoryPageStore()
        case _:
            raise ConfigurationError(f"there is no page store {name!r}")


def check_shared(settings: Settings) -> None:
    """Raise ``ConfigurationError`` if the store cannot be shared by several processes."""
    if settings.page_store == "memory":
        raise ConfigurationError(
            "MEMCI_PAGE_STORE=memory is for tests and short runs of a single process: API and"
            " workers are several, and none would find what another one keeps; set it to postgres"
            " (the default), files or s3"
        )


def _folder(settings: Settings) -> Path:
    return settings.page_folder or settings.data_dir / _FOLDER


def _bucket(settings: Settings) -> Bucket:
    if settings.page_s3_bucket is None:
        raise ConfigurationError("a page store on S3 needs a bucket: set MEMCI_PAGE_S3_BUCKET")
    return Bucket(
        name=settings.page_s3_bucket,
        prefix=settings.page_s3_prefix,
        endpoint=settings.page_s3_endpoint,
        region=settings.page_s3_region,
        addressing=settings.page_s3_addressing,
    )


_AT_ONCE = 500


def remove_texts(store: PageStore, agent_id: str, keys: Collection[TextKey]) -> None:
    """Delete an agent's texts, and check that they are gone.

    Raises ``PageStoreError`` if the store does not answer or still has one; a retry continues.
    """
    left = iter(keys)
    while some := list(islice(left, _AT_ONCE)):
        delete_many(store, some)
    if keys and not set(keys).isdisjoint(store.list(agent_id)):
        raise PageStoreError
