"""Collections: documents that several agents search."""

from __future__ import annotations

from memci.client.sync_async import awaitable, blocking
from memci.client.transport import AsyncTransport, Transport
from memci.client.verbs.documents import CollectionVerbs


class Collection:
    """One collection; it begins with its first document."""

    def __init__(self, verbs: CollectionVerbs, transport: Transport) -> None:
        """Use ``Memci.collection`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"Collection({self._verbs.id!r})"

    add_document = blocking(CollectionVerbs.add_document)
    add_file = blocking(CollectionVerbs.add_file)
    documents = blocking(CollectionVerbs.documents)
    document = blocking(CollectionVerbs.document)
    remove_document = blocking(CollectionVerbs.remove_document)
    remove_documents = blocking(CollectionVerbs.remove_documents)
    wait_document = blocking(CollectionVerbs.wait_document)


class AsyncCollection:
    """One collection, for asyncio."""

    def __init__(self, verbs: CollectionVerbs, transport: AsyncTransport) -> None:
        """Use ``Memci.aio.collection`` to get one."""
        self._verbs = verbs
        self._transport = transport

    def __repr__(self) -> str:
        return f"AsyncCollection({self._verbs.id!r})"

    add_document = awaitable(CollectionVerbs.add_document)
    add_file = awaitable(CollectionVerbs.add_file)
    documents = awaitable(CollectionVerbs.documents)
    document = awaitable(CollectionVerbs.document)
    remove_document = awaitable(CollectionVerbs.remove_document)
    remove_documents = awaitable(CollectionVerbs.remove_documents)
    wait_document = awaitable(CollectionVerbs.wait_document)
