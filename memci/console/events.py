"""Events as they happen, for pages that show what is going on."""

from typing import Any, Protocol

from starlette.responses import Response

from memci.api_keys import Scope, is_for
from memci.console.visit import Visit
from memci.schemas.events import Event


class _Streams(Protocol):
    """The streams of the API, with their limits."""

    def start(self, request: Any, wanted: Any, after: None) -> Response:
        """Return a stream of wanted events to come; raises ``RateLimitedError``."""
        ...


async def _events(visit: Visit) -> Response:
    """Stream the events of one agent, or of all that the key is for."""
    patterns, agent = visit.request.state.agents, visit.given("agent")

    def wanted(event: Event) -> bool:
        return is_for(patterns, event.agent) and agent in {None, event.agent}

    streams: _Streams = visit.request.app.state.event_streams
    return streams.start(visit.request, wanted, None)


PAGES = (("/events", _events, Scope.READ),)
