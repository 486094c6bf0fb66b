"""Chooses the page store by the settings, and deletes texts verifiably (P14, M25)."""

from collections.abc import Collection

from memci.config.groups import PageStoreAddress
from memci.config.settings import Settings
from memci.errors import PageStoreError
from memci.storage.page_store.local import FilePageStore, MemoryPageStore
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.page_store.s3 import S3PageStore
from memci.storage.page_store.wrappers import CachedPageStore, MovingPageStore, TextCache
from memci.storage.session import Database, batches

_FOLDER = "pages"  # in the data folder
_CACHE_BYTES = 16 * 1024 * 1024  # of texts that a process has read


def choose_page_store(
    settings: Settings, database: Database, *, cache_bytes: int = _CACHE_BYTES
) -> PageStore:
    """Return the configured store, and the second one that is read, behind a cache."""
    address, also = settings.page_store, settings.page_store_reads_also
    chosen = open_page_store(address, settings, database, in_use=also is None)
    if also is not None:
        chosen = MovingPageStore(chosen, open_page_store(also, settings, database, in_use=True))
    return CachedPageStore(chosen, TextCache(cache_bytes))


def open_page_store(
    address: str, settings: Settings, database: Database, *, in_use: bool = False
) -> PageStore:
    """Return the store at an address of the settings, without a cache.

    A store ``in_use`` has texts: if its folder is missing, it raises an error.
    """
    where = PageStoreAddress.parse(address)
    match where.kind:
        case "postgres":
            return PostgresPageStore(database)
        case "files":
            folder = where.folder or settings.data_dir / _FOLDER
            return FilePageStore(folder, database if in_use else None)
        case "s3":
            return S3PageStore(where)
        case _:
            return MemoryPageStore()


_AT_ONCE = 500


def remove_texts(store: PageStore, agent_id: str, keys: Collection[TextKey]) -> None:
    """Delete an agent's texts, and check that they are gone.

    Raises ``PageStoreError`` if the store does not answer or still has one; a retry continues.
    """
    for some in batches(keys, _AT_ONCE):
        store.delete_many(some)
    if keys and not set(keys).isdisjoint(store.list(agent_id)):
        raise PageStoreError
