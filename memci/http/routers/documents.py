"""Documents of agents and of collections (R9)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from memci.commands import documents
from memci.domain.documents import COLLECTION_PATTERN, MOST_NAME, collection_owner
from memci.http.documentation import problems
from memci.http.request import AgentId, Call, Cursor, Limit
from memci.http.routing import ReadRoute, WriteRoute
from memci.http.uploads import BODY, sent_document
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

reading = APIRouter(
    prefix="/v1", tags=["documents"], route_class=ReadRoute, responses=problems(404)
)
writing = APIRouter(prefix="/v1", tags=["documents"], route_class=WriteRoute)


@writing.post(
    "/agents/{agent}/documents",
    status_code=202,
    responses=problems(400, 413, 415),
    openapi_extra=BODY,
)
async def add_document(agent: AgentId, call: Call) -> DocumentAnswer:
    """Take a document in; workers read it, cut it into chunks, and let those be found.

    A document of the same name is replaced; the same content again changes nothing.
    """
    return await _add(call, agent)


@writing.post(
    "/collections/{collection}/documents",
    status_code=202,
    responses=problems(400, 413, 415),
    openapi_extra=BODY,
)
async def add_to_collection(collection: CollectionName, call: Call) -> DocumentAnswer:
    """Take a document into a collection, which begins with its first one."""
    return await _add(call, collection_owner(collection))


@reading.get("/agents/{agent}/documents")
def list_documents(
    agent: AgentId, call: Call, prefix: Prefix = "", cursor: Cursor = None, limit: Limit = 100
) -> DocumentList:
    """List an agent's documents by id, with how far each is."""
    return call.runtime.listings.documents(agent, prefix=prefix, cursor=cursor, limit=limit)


@reading.get("/collections/{collection}/documents")
def list_collection(
    collection: CollectionName,
    call: Call,
    prefix: Prefix = "",
    cursor: Cursor = None,
    limit: Limit = 100,
) -> DocumentList:
    """List a collection's documents by id, with how far each is."""
    owner = collection_owner(collection)
    return call.runtime.listings.documents(owner, prefix=prefix, cursor=cursor, limit=limit)


@reading.get("/agents/{agent}/documents/{document}")
def get_document(agent: AgentId, document: DocumentId, call: Call) -> DocumentOut:
    """Return one document of an agent, and how far it is."""
    return call.runtime.listings.document(agent, document)


@reading.get("/collections/{collection}/documents/{document}")
def get_from_collection(
    collection: CollectionName, document: DocumentId, call: Call
) -> DocumentOut:
    """Return one document of a collection, and how far it is."""
    return call.runtime.listings.document(collection_owner(collection), document)


@writing.delete("/agents/{agent}/documents/{document}", responses=problems(404))
def remove_document(agent: AgentId, document: DocumentId, call: Call) -> DocumentsRemoved:
    """Remove a document of an agent for good."""
    return documents.remove(call.runtime.database, agent, document)


@writing.delete("/collections/{collection}/documents/{document}", responses=problems(404))
def remove_from_collection(
    collection: CollectionName, document: DocumentId, call: Call
) -> DocumentsRemoved:
    """Remove a document of a collection for good; with its last one goes the collection."""
    return documents.remove(call.runtime.database, collection_owner(collection), document)


@writing.delete("/agents/{agent}/documents", responses=problems(404))
def remove_documents(agent: AgentId, prefix: AllOf, call: Call) -> DocumentsRemoved:
    """Remove documents of an agent for good, by what their names begin with."""
    return documents.remove_named(call.runtime.database, agent, prefix)


@writing.delete("/collections/{collection}/documents", responses=problems(404))
def clear_collection(collection: CollectionName, prefix: AllOf, call: Call) -> DocumentsRemoved:
    """Remove documents of a collection for good, by what their names begin with."""
    return documents.remove_named(call.runtime.database, collection_owner(collection), prefix)


@reading.get("/collections")
def list_collections(call: Call, cursor: Cursor = None, limit: Limit = 100) -> CollectionList:
    """List the collections that the key is for, by name."""
    return call.runtime.listings.collections(patterns=call.key_agents, cursor=cursor, limit=limit)


async def _add(call: Call, owner: str) -> DocumentAnswer:
    runtime = call.runtime
    most = runtime.settings.http_max_document_bytes
    name, body = await sent_document(call, max_bytes=most)

    def run() -> DocumentAnswer:
        new = documents.new_document(name, body, max_bytes=most)
        return documents.add(
            runtime.database, runtime.tokens, owner, new, traceparent=call.traceparent
        )

    return await run_in_threadpool(run)
