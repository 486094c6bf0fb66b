"""Documents of agents and of collections (R9)."""

from typing import Annotated, TypeAlias

from fastapi import Path, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from memci.commands import documents
from memci.domain.documents import COLLECTION_PATTERN, MOST_NAME, collection_owner
from memci.http.request import BODY, AgentId, Call, Page, uploaded_document
from memci.http.routing import Routes
from memci.schemas.base import Text
from memci.schemas.documents import (
    CollectionList,
    DocumentAnswer,
    DocumentList,
    DocumentOut,
    DocumentsRemoved,
)

# The gate has checked it before any endpoint sees it.
CollectionName: TypeAlias = Annotated[
    str, Path(json_schema_extra={"pattern": f"^{COLLECTION_PATTERN}$"})
]
DocumentId: TypeAlias = Annotated[int, Path(ge=1, le=2**62)]
_Name: TypeAlias = Annotated[Text, Field(max_length=MOST_NAME)]
Prefix: TypeAlias = Annotated[_Name, Query(description="Only those whose names begin so")]
AllOf: TypeAlias = Annotated[
    _Name, Query(alias="prefix", description="Those whose names begin so; empty: all")
]

routes = Routes("documents")


@routes.write.post("/agents/{agent}/documents", status_code=202, **BODY)
async def add_document(agent: AgentId, call: Call) -> DocumentAnswer:
    """Add a document; workers read it, cut it into chunks and index them.

    A document of the same name is replaced; the same content again changes nothing.
    """
    return await _add(call, agent)


@routes.write.post("/collections/{collection}/documents", status_code=202, **BODY)
async def add_to_collection(collection: CollectionName, call: Call) -> DocumentAnswer:
    """Add a document to a collection; its first document creates the collection."""
    return await _add(call, collection_owner(collection))


@routes.read.get("/agents/{agent}/documents")
def list_documents(agent: AgentId, call: Call, page: Page, prefix: Prefix = "") -> DocumentList:
    """List an agent's documents by id, with their states."""
    return call.runtime.listings.documents(agent, prefix=prefix, **page)


@routes.read.get("/collections/{collection}/documents")
def list_collection(
    collection: CollectionName, call: Call, page: Page, prefix: Prefix = ""
) -> DocumentList:
    """List a collection's documents by id, with their states."""
    owner = collection_owner(collection)
    return call.runtime.listings.documents(owner, prefix=prefix, **page)


@routes.read.get("/agents/{agent}/documents/{document}")
def get_document(agent: AgentId, document: DocumentId, call: Call) -> DocumentOut:
    """Return one document of an agent and its state."""
    return call.runtime.listings.document(agent, document)


@routes.read.get("/collections/{collection}/documents/{document}")
def get_from_collection(
    collection: CollectionName, document: DocumentId, call: Call
) -> DocumentOut:
    """Return one document of a collection and its state."""
    return call.runtime.listings.document(collection_owner(collection), document)


@routes.write.delete("/agents/{agent}/documents/{document}")
def remove_document(agent: AgentId, document: DocumentId, call: Call) -> DocumentsRemoved:
    """Remove a document of an agent for good."""
    return documents.remove(call.runtime.database, agent, document)


@routes.write.delete("/collections/{collection}/documents/{document}")
def remove_from_collection(
    collection: CollectionName, document: DocumentId, call: Call
) -> DocumentsRemoved:
    """Remove a document of a collection for good; the last one removes the collection."""
    return documents.remove(call.runtime.database, collection_owner(collection), document)


@routes.write.delete("/agents/{agent}/documents")
def remove_documents(agent: AgentId, prefix: AllOf, call: Call) -> DocumentsRemoved:
    """Remove documents of an agent for good, by what their names begin with."""
    return documents.remove_named(call.runtime.database, agent, prefix)


@routes.write.delete("/collections/{collection}/documents")
def clear_collection(collection: CollectionName, prefix: AllOf, call: Call) -> DocumentsRemoved:
    """Remove documents of a collection for good, by what their names begin with."""
    return documents.remove_named(call.runtime.database, collection_owner(collection), prefix)


@routes.read.get("/collections")
def list_collections(call: Call, page: Page) -> CollectionList:
    """List the collections that the key is for, by name."""
    return call.runtime.listings.collections(patterns=call.state.agents, **page)


async def _add(call: Call, owner: str) -> DocumentAnswer:
    runtime = call.runtime
    most = runtime.settings.http_max_document_bytes
    name, body = await uploaded_document(call, max_bytes=most)

    def run() -> DocumentAnswer:
        new = documents.new_document(name, body, max_bytes=most)
        return documents.add(
            runtime.database,
            runtime.wakeups,
            owner,
            new,
            traceparent=call.state.traceparent,
            paying=call.state.paying,
        )

    return await run_in_threadpool(run)
