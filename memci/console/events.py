"""Events as they happen, for pages that show what is going on."""

from typing import Any, Protocol

from starlette.responses import Response

from memci.api_keys import Scope, is_for
from memci.console.visit import Visit
from memci.domain.events import StoredEvent


class _Streams(Protocol):
    """The streams of the API, with their limits."""

    def start(self, request: Any, wanted: Any, cursor: str | None) -> Response:
        """Return a stream of wanted events; raises ``RateLimitedError``."""
        ...


async def _events(visit: Visit) -> Response:
    """Stream the events of one agent, or of all that the key is for.

    A page that has lost its connection goes on where it was.
    """
    patterns, agent = visit.request.state.agents, visit.given("agent")

    def wanted(event: StoredEvent) -> bool:
        return is_for(patterns, event.agent_id) and agent in {None, event.agent_id}

    streams: _Streams = visit.request.app.state.event_streams
    return streams.start(visit.request, wanted, visit.request.headers.get("last-event-id"))


PAGES = (("/events", _events, Scope.READ),)
