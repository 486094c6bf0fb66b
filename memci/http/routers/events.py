"""Routes for events: lists, a stream of all agents of a key, and webhooks."""

from typing import Annotated, Any

from fastapi import Header, Query
from starlette.responses import StreamingResponse

from memci.api_keys import is_for
from memci.domain.events import EventType, StoredEvent
from memci.errors import InvalidInputError
from memci.http.event_stream import EventStreams
from memci.http.request import AgentId, Call, Page, ThingId
from memci.http.routing import Routes
from memci.schemas.events import (
    Delivery,
    EventList,
    EventReplay,
    WebhookAnswer,
    WebhookChange,
    WebhookList,
    WebhookRequest,
    WebhookWithSecret,
)
from memci.webhooks.manage import Webhooks

routes = Routes("events")
webhook_routes = Routes("webhooks")
_STREAM: dict[int | str, Any] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


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
    after: Annotated[
        str | None, Query(max_length=512, description="The id of an event, such as 5831.402")
    ] = None,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=512)] = None,
) -> StreamingResponse:
    """Stream events of all agents that the key is for, as server-sent events.

    They begin after the event with the id `after`, or `Last-Event-ID`, which browsers send when
    they connect again; with neither, now. A comment comes every 15 seconds. More streams than the
    server or one key may have open are refused with 429.
    """
    kinds = _types(types)

    def wanted(event: StoredEvent) -> bool:
        for_key = is_for(call.state.agents, event.agent_id)
        return for_key and is_for(agents, event.agent_id) and event.type in kinds

    streams: EventStreams = call.app.state.event_streams
    try:
        return streams.start(call, wanted, last_event_id or after)
    except InvalidInputError:
        raise InvalidInputError(
            "expected the id of an event as the event has it, such as 5831.402; leave it out to"
            " begin now",
            field="Last-Event-ID" if last_event_id else "after",
        ) from None


def _types(names: str | None) -> frozenset[EventType]:
    if names is None:
        return frozenset(EventType)
    try:
        return frozenset(map(EventType, names.split(",")))
    except ValueError:
        known = ", ".join(EventType)
        raise InvalidInputError(f"types: expected some of {known}", field="types") from None


@webhook_routes.admin.get("/webhooks")
def list_webhooks(call: Call) -> WebhookList:
    """List the webhooks of agents that the key is for, the oldest first."""
    return _webhooks(call).all()


@webhook_routes.admin.post("/webhooks", status_code=201)
def add_webhook(body: WebhookRequest, call: Call) -> WebhookWithSecret:
    """Send events of some agents to an address, from now on; the answer has the secret, once.

    The key must be for these agents. Each event is a POST as Standard Webhooks describes it.
    """
    added = _webhooks(call).add(body)
    call.state.subject = str(added.id)
    return added


@webhook_routes.admin.get("/webhooks/{webhook_id}")
def get_webhook(webhook_id: ThingId, call: Call) -> WebhookAnswer:
    """Return one webhook, with its last attempts."""
    return _webhooks(call).get(webhook_id)


@webhook_routes.admin.patch("/webhooks/{webhook_id}")
def change_webhook(webhook_id: ThingId, body: WebhookChange, call: Call) -> WebhookAnswer:
    """Change a webhook, or enable it again: the next event is then tried at once."""
    return _webhooks(call).change(webhook_id, body)


@webhook_routes.admin.delete("/webhooks/{webhook_id}")
def remove_webhook(webhook_id: ThingId, call: Call) -> WebhookAnswer:
    """Remove a webhook; an attempt under way may still arrive."""
    return _webhooks(call).remove(webhook_id)


@webhook_routes.admin.post("/webhooks/{webhook_id}/test")
def test_webhook(webhook_id: ThingId, call: Call) -> Delivery:
    """Send an event of the type `webhook.test` now, once, and return the outcome."""
    return _webhooks(call).test(webhook_id)


@webhook_routes.admin.post("/webhooks/{webhook_id}/replay")
def replay_webhook(webhook_id: ThingId, body: EventReplay, call: Call) -> WebhookAnswer:
    """Deliver the events after one again, as far as they are kept."""
    return _webhooks(call).replay(webhook_id, body)


@webhook_routes.admin.post("/webhooks/{webhook_id}/rotate")
def rotate_webhook_secret(webhook_id: ThingId, call: Call) -> WebhookWithSecret:
    """Make a new secret; for a day, events have a signature of each."""
    return _webhooks(call).rotate(webhook_id)


def _webhooks(call: Call) -> Webhooks:
    return Webhooks(call.runtime.courier, call.state.agents)
