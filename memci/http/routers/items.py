"""Items: what an agent's programs keep (docs/frameworks.md)."""

from __future__ import annotations

from fastapi import APIRouter

from memci.commands import items as keeping
from memci.http.documentation import problems
from memci.http.request import AgentId, Call
from memci.http.routing import ReadRoute, WriteRoute
from memci.reading.items import item_of, listed, refresh
from memci.schemas.frameworks import (
    ItemList,
    ItemPlaces,
    ItemsAnswer,
    ItemSearch,
    ItemsIn,
    NamespaceList,
    NamespaceSearch,
)
from memci.storage.items import get_items, list_namespaces

_PROBLEMS = problems(400, 404, 413, 415)
reading = APIRouter(prefix="/v1", tags=["items"], route_class=ReadRoute, responses=_PROBLEMS)
writing = APIRouter(prefix="/v1", tags=["items"], route_class=WriteRoute, responses=_PROBLEMS)


@writing.put("/agents/{agent}/items")
def put_items(agent: AgentId, body: ItemsIn, call: Call) -> ItemsAnswer:
    """Keep items under their names, in the place of what was there, and take others away."""
    return keeping.run(call.runtime.database, call.runtime.tokens, agent, body)


@reading.post("/agents/{agent}/items/get")
def get_items_by_place(agent: AgentId, body: ItemPlaces, call: Call) -> ItemList:
    """Read items by their names; null where there is none."""
    database = call.runtime.database
    places = [(each.namespace, each.key) for each in body.items]
    with database.agent_snapshot(agent) as connection:
        found = get_items(connection, agent, places)
    if body.refresh:
        refresh(database, agent, list(found))
    return ItemList(items=[item_of(found[place]) if place in found else None for place in places])


@reading.post("/agents/{agent}/items/search")
def search_items(agent: AgentId, body: ItemSearch, call: Call) -> ItemList:
    """List items by namespace and value; with a query those first that fit it best."""
    if not (body.query and body.query.strip()):
        return listed(call.runtime.database, agent, body)
    request = body.model_dump(mode="json", exclude_unset=True)
    if call.traceparent is not None:
        request["traceparent"] = call.traceparent
    return ItemList.model_validate(call.runtime.reads.call("items", agent, request))


@reading.post("/agents/{agent}/items/namespaces")
def list_item_namespaces(agent: AgentId, body: NamespaceSearch, call: Call) -> NamespaceList:
    """List namespaces that hold items."""
    with call.runtime.database.agent_snapshot(agent) as connection:
        found = list_namespaces(
            connection,
            agent,
            [(each.type, each.path) for each in body.match],
            max_depth=body.max_depth,
            limit=body.limit,
            offset=body.offset,
        )
    return NamespaceList(namespaces=found)
