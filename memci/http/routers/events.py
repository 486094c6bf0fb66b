"""Routes for events: the list of one agent, and a stream of all agents of a key."""

from typing import Annotated

from fastapi import Header, Query
from starlette.responses import StreamingResponse

from memci.api_keys import is_for
from memci.domain.events import EventType, Position
from memci.errors import InvalidInputError
from memci.http.event_stream import EventStreams
from memci.http.request import AgentId, Call, Cursor, Page
from memci.http.routing import Routes
from memci.reading.lists.cursors import place_after
from memci.schemas.events import Event, EventList

routes = Routes("events")
_STREAM = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}


@routes.read.get("/agents/{agent}/events")
def list_events(agent: AgentId, call: Call, page: Page) -> EventList:
    """List events of an agent, the oldest first; old ones are removed."""
    return call.runtime.listings.events(agent, **page)


@routes.read.get("/events", response_class=StreamingResponse, responses=_STREAM)
async def stream_events(
    call: Call,
    agents: Annotated[
        str, Query(max_length=4096, description="Patterns of agent ids, with commas between")
    ] = "*",
    types: Annotated[
        str | None, Query(max_length=4096, description="Types of events, with commas between")
    ] = None,
    after: Cursor = None,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=512)] = None,
) -> StreamingResponse:
    """Stream events of all agents that the key is for, as server-sent events.

    They begin after the event with the id `after`, or `Last-Event-ID`, which browsers send when
    they connect again; with neither, now. A comment comes every 15 seconds. Many open streams are
    refused with 429.
    """
    kinds = _types(types)
    cursor = last_event_id or after
    position = None if cursor is None else Position(*place_after(cursor, parts=2))

    def wanted(event: Event) -> bool:
        for_key = is_for(call.state.agents, event.agent)
        return for_key and is_for(agents, event.agent) and event.type in kinds

    streams: EventStreams = call.app.state.event_streams
    return streams.start(call, wanted, position)


def _types(names: str | None) -> frozenset[EventType]:
    if names is None:
        return frozenset(EventType)
    try:
        return frozenset(map(EventType, names.split(",")))
    except ValueError:
        known = ", ".join(EventType)
        raise InvalidInputError(f"types: expected some of {known}", field="types") from None
