"""Routes for items and checkpoints of agent frameworks."""

from typing import Annotated, TypeAlias

from fastapi import Path

from memci.commands import framework_storage
from memci.http.documentation import CONFLICT
from memci.http.request import AgentId, Call
from memci.http.routing import Routes
from memci.reading.lists.framework_items import find, item_of, listed, refresh
from memci.schemas import frameworks as schemas
from memci.storage.frameworks.items import get_items, list_namespaces

item_routes = Routes("items")
thread_routes = Routes("threads", CONFLICT)


@item_routes.write.put("/agents/{agent}/items")
def put_items(agent: AgentId, body: schemas.ItemsIn, call: Call) -> schemas.ItemsAnswer:
    """Store items under their names, replacing earlier ones, and remove others."""
    runtime, paying = call.runtime, call.state.paying
    redact = runtime.settings.memory.redact
    return framework_storage.put_items(
        runtime.database, runtime.wakeups, agent, body, redact=redact, paying=paying
    )


@item_routes.read.post("/agents/{agent}/items/get")
def get_items_by_place(agent: AgentId, body: schemas.ItemPlaces, call: Call) -> schemas.ItemList:
    """Read items by their names; null where there is none."""
    database = call.runtime.database
    places = [(each.namespace, each.key) for each in body.items]
    with database.agent_snapshot(agent) as connection:
        found = get_items(connection, agent, places)
    if body.refresh:
        refresh(database, agent, list(found))
    return schemas.ItemList(
        items=[item_of(found[place]) if place in found else None for place in places]
    )


@item_routes.read.post("/agents/{agent}/items/search")
def search_items(agent: AgentId, body: schemas.ItemSearch, call: Call) -> schemas.ItemList:
    """List items by namespace and value; with a query those first that fit it best."""
    if not (body.query and body.query.strip()):
        return listed(call.runtime.database, agent, body)
    return schemas.ItemList.model_validate(call.ask("items", agent, body))


@item_routes.read.post("/agents/{agent}/items/namespaces")
def list_item_namespaces(
    agent: AgentId, body: schemas.NamespaceSearch, call: Call
) -> schemas.NamespaceList:
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
    return schemas.NamespaceList(namespaces=found)


# A thread's name may hold slashes.
Thread: TypeAlias = Annotated[schemas.ThreadName, Path()]


@thread_routes.write.post("/agents/{agent}/threads/{thread:path}/checkpoints")
def put_checkpoint(
    agent: AgentId, thread: Thread, body: schemas.CheckpointIn, call: Call
) -> schemas.CheckpointStored:
    """Store a checkpoint of a thread, with the values that are new in it."""
    database, paying = call.runtime.database, call.state.paying
    return framework_storage.put_checkpoint(database, agent, thread, body, paying=paying)


@thread_routes.write.post("/agents/{agent}/threads/{thread:path}/writes")
def put_pending_writes(
    agent: AgentId, thread: Thread, body: schemas.WritesIn, call: Call
) -> schemas.CheckpointStored:
    """Store what a task has written after a checkpoint."""
    database, paying = call.runtime.database, call.state.paying
    return framework_storage.put_writes(database, agent, thread, body, paying=paying)


@thread_routes.write.post("/agents/{agent}/threads/{thread:path}/copy")
def copy_thread(
    agent: AgentId, thread: Thread, body: schemas.ThreadCopy, call: Call
) -> schemas.ThreadAnswer:
    """Store a thread under another name, too."""
    return framework_storage.copy_thread(call.runtime.database, agent, thread, body.to)


@thread_routes.write.post("/agents/{agent}/checkpoints/prune")
def prune_checkpoints(
    agent: AgentId, body: schemas.CheckpointPrune, call: Call
) -> schemas.ThreadAnswer:
    """Remove checkpoints of some runs, or of some threads all, or all but the latest."""
    return framework_storage.prune_checkpoints(call.runtime.database, agent, body)


@thread_routes.read.post("/agents/{agent}/checkpoints/search")
def search_checkpoints(
    agent: AgentId, body: schemas.CheckpointSearch, call: Call
) -> schemas.CheckpointList:
    """List checkpoints, the latest first."""
    return find(call.runtime.database, agent, body)
