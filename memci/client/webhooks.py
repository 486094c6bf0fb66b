"""Webhooks of a server: addresses that are sent events of agents."""

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from memci.client.keyword_arguments import WebhookChanges
from memci.client.method import Methods, TransportT, method
from memci.client.requests import Flow
from memci.domain.events import EventType
from memci.schemas.events import Delivery, WebhookAnswer, WebhookList, WebhookWithSecret


class WebhookMethods(Methods[TransportT]):
    """Manages webhooks of agents that the key is for; it needs the scope ``admin``."""

    @method
    def webhooks(self) -> Flow[WebhookList]:
        """List webhooks with their last attempts, the oldest first."""
        return self._get("/v1/webhooks", WebhookList)

    @method
    def add_webhook(
        self, url: str, *, agents: str = "*", types: Sequence[EventType | str] = ()
    ) -> Flow[WebhookWithSecret]:
        """Send events to an address from now on; the answer has the secret, once.

        ``agents``: patterns of ids, with commas between. ``types``: none are all.
        """
        request = {"url": url, "agents": agents, "types": list(types)}
        return self._post("/v1/webhooks", WebhookWithSecret, request, repeatable=False)

    @method
    def webhook(self, webhook_id: UUID | str) -> Flow[WebhookAnswer]:
        """Return one webhook."""
        return self._get(f"/v1/webhooks/{webhook_id}", WebhookAnswer)

    @method
    def change_webhook(
        self, webhook_id: UUID | str, **changes: Unpack[WebhookChanges]
    ) -> Flow[WebhookAnswer]:
        """Change a webhook; the rest stays."""
        return self._fetch("PATCH", f"/v1/webhooks/{webhook_id}", WebhookAnswer, json=changes)

    @method
    def remove_webhook(self, webhook_id: UUID | str) -> Flow[WebhookAnswer]:
        """Remove a webhook."""
        return self._fetch("DELETE", f"/v1/webhooks/{webhook_id}", WebhookAnswer)

    @method
    def test_webhook(self, webhook_id: UUID | str) -> Flow[Delivery]:
        """Send an event that says nothing, once, and return the outcome."""
        return self._post(f"/v1/webhooks/{webhook_id}/test", Delivery)

    @method
    def replay_webhook(
        self, webhook_id: UUID | str, *, after: str | None = None
    ) -> Flow[WebhookAnswer]:
        """Deliver the events after one again; none: all that are kept."""
        return self._post(f"/v1/webhooks/{webhook_id}/replay", WebhookAnswer, {"after": after})

    @method
    def rotate_webhook_secret(self, webhook_id: UUID | str) -> Flow[WebhookWithSecret]:
        """Make a new secret; for a day, both sign."""
        path = f"/v1/webhooks/{webhook_id}/rotate"
        return self._post(path, WebhookWithSecret, repeatable=False)
