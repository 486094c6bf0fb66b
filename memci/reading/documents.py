"""Documents and collections, listed."""

from __future__ import annotations

from dataclasses import asdict

from memci.access import is_for
from memci.domain.documents.owner import collection_owner, is_collection, nobody
from memci.errors import NotFoundError
from memci.reading.page import named_after, named_cursor, page_of, place_after
from memci.shapes.documents import CollectionList, CollectionOut, DocumentList, DocumentOut
from memci.storage.documents.collections import is_collection_there, list_collections
from memci.storage.documents.documents import document_by_id, list_documents
from memci.storage.erasure.gone import is_there
from memci.storage.session import Connection, Database


class DocumentListings:
    """Reads what agents and collections have for documents."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def documents(self, owner: str, *, prefix: str, cursor: str | None, limit: int) -> DocumentList:
        """List documents by id; raises ``NotFoundError`` for no such owner."""
        (after,) = place_after(cursor)
        with self._database.agent_snapshot(owner) as connection:
            _check(connection, owner)
            rows = list_documents(connection, owner, prefix=prefix, after=after, limit=limit + 1)
        page, following = page_of(rows, limit, lambda row: row.id)
        documents = [DocumentOut(**asdict(each)) for each in page]
        return DocumentList(documents=documents, next_cursor=following)

    def document(self, owner: str, document_id: int) -> DocumentOut:
        """Return one document, or raise ``NotFoundError``."""
        with self._database.agent_snapshot(owner) as connection:
            _check(connection, owner)
            found = document_by_id(connection, owner, document_id)
        if found is None:
            raise NotFoundError("there is no such document; it may have been removed")
        return DocumentOut(**asdict(found))

    def collections(self, *, patterns: str, cursor: str | None, limit: int) -> CollectionList:
        """List the collections that a key with such patterns is for, by name."""
        with self._database.lane_transaction(durable=False) as connection:
            found = list_collections(connection, after=named_after(cursor))
        allowed = [each for each in found if is_for(patterns, collection_owner(each.name))]
        page, following = page_of(allowed, limit, lambda each: named_cursor(each.name))
        collections = [CollectionOut(**asdict(each)) for each in page]
        return CollectionList(collections=collections, next_cursor=following)


def _check(connection: Connection, owner: str) -> None:
    there = is_collection_there if is_collection(owner) else is_there
    if not there(connection, owner):
        raise nobody(owner)
