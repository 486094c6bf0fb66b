"""Adds, lists, changes, tests and removes webhooks, as far as an API key is for their agents."""

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any
from uuid import UUID, uuid4

from pydantic import HttpUrl

from memci.api_keys import is_within
from memci.domain.events import EventType, Position
from memci.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from memci.schemas.events import (
    Delivery,
    EventReplay,
    WebhookAnswer,
    WebhookChange,
    WebhookList,
    WebhookRequest,
    WebhookWithSecret,
)
from memci.storage import webhooks as stored
from memci.storage.events import latest_position
from memci.storage.session import Connection
from memci.storage.webhooks import Webhook
from memci.webhooks.deliver import Courier, delivery_of
from memci.webhooks.send import Outcome, PrivateAddressError, is_public, new_secret

# Every webhook looks at all events.
MOST_WEBHOOKS = 100
_TEST = "webhook.test"


@dataclass(frozen=True)
class Webhooks:
    """The webhooks that a key with these patterns of agents may manage.

    All raise ``NotFoundError`` for a webhook that is not there, or of agents of other keys.
    """

    courier: Courier
    patterns: str

    def all(self) -> WebhookList:
        """List them, the oldest first."""
        with self.courier.database.upkeep_transaction() as connection:
            found = stored.list_webhooks(connection)
        own = [_answer(each) for each in found if is_within(each.agents, self.patterns)]
        return WebhookList(webhooks=own)

    def get(self, webhook_id: UUID) -> WebhookAnswer:
        """Return one."""
        with self.courier.database.upkeep_transaction() as connection:
            return _answer(self._find(connection, webhook_id))

    def add(self, request: WebhookRequest) -> WebhookWithSecret:
        """Add one, for events from now on.

        Raises ``ForbiddenError`` if the key is not for its agents, ``InvalidInputError`` for an
        address that is plainly private, and ``ConflictError`` if there are too many.
        """
        self._check(request.url, request.agents)
        secret = new_secret()
        with self.courier.database.upkeep_transaction() as connection:
            if len(stored.list_webhooks(connection)) >= MOST_WEBHOOKS:
                raise ConflictError(f"there are {MOST_WEBHOOKS} webhooks: remove one first")
            webhook = stored.add_webhook(
                connection,
                uuid4(),
                **_columns(request.model_dump()),
                secret=secret,
                position=latest_position(connection),
            )
        return _with_secret(webhook, secret)

    def change(self, webhook_id: UUID, change: WebhookChange) -> WebhookAnswer:
        """Change one; raises as ``add``."""
        self._check(change.url, change.agents)
        with self.courier.database.upkeep_transaction() as connection:
            self._find(connection, webhook_id)
            columns = _columns(change.model_dump(exclude_none=True))
            return _answer(stored.change_webhook(connection, webhook_id, columns))

    def remove(self, webhook_id: UUID) -> WebhookAnswer:
        """Remove one; return it as it was."""
        with self.courier.database.upkeep_transaction() as connection:
            found = self._find(connection, webhook_id)
            stored.remove_webhook(connection, webhook_id)
        return _answer(found)

    def replay(self, webhook_id: UUID, request: EventReplay) -> WebhookAnswer:
        """Deliver the events after one again.

        Raises ``InvalidInputError`` for an id after the newest event.
        """
        after = Position(*map(int, request.after.split(".")))
        with self.courier.database.upkeep_transaction() as connection:
            self._find(connection, webhook_id)
            if after > latest_position(connection):
                raise InvalidInputError(
                    "this is after the newest event: take the id of an event that was sent",
                    field="after",
                )
            return _answer(stored.change_webhook(connection, webhook_id, after._asdict()))

    def rotate(self, webhook_id: UUID) -> WebhookWithSecret:
        """Make a new secret; the one before signs too for a day."""
        secret = new_secret()
        with self.courier.database.upkeep_transaction() as connection:
            self._find(connection, webhook_id)
            return _with_secret(stored.rotate_secret(connection, webhook_id, secret), secret)

    def test(self, webhook_id: UUID) -> Delivery:
        """Send an event that says nothing, once; changes nothing."""
        with self.courier.database.upkeep_transaction() as connection:
            webhook = self._find(connection, webhook_id)
        event: dict[str, Any] = {
            "id": f"test.{uuid4()}",
            "type": _TEST,
            "timestamp": datetime.now(UTC).isoformat(),
            "agent": None,
            "data": {},
        }
        outcome = asyncio.run(self._send(webhook, event))
        return Delivery.model_validate(delivery_of(event["id"], _TEST, outcome, 1))

    async def _send(self, webhook: Webhook, event: dict[str, Any]) -> Outcome:
        async with self.courier.sender(webhook) as sender:
            return await sender.send(event["id"], json.dumps(event).encode())

    def _check(self, url: HttpUrl | None, agents: str | None) -> None:
        if agents is not None and not is_within(agents, self.patterns):
            raise ForbiddenError("the key is not for all of these agents")
        if url is not None and not self.courier.allow_private and _is_plainly_private(url):
            raise InvalidInputError(str(PrivateAddressError()), field="url")

    def _find(self, connection: Connection, webhook_id: UUID) -> Webhook:
        found = stored.read_webhook(connection, webhook_id)
        if found is None or not is_within(found.agents, self.patterns):
            raise NotFoundError("there is no such webhook")
        return found


def _is_plainly_private(url: HttpUrl) -> bool:
    """Return True for a private IP address; what a name leads to is checked at each connection."""
    try:
        host = str(ip_address(str(url.host).strip("[]")))
    except ValueError:
        return False
    return not is_public(host)


def _columns(values: dict[str, Any]) -> dict[str, Any]:
    if "url" in values:
        values["url"] = str(values["url"])
    if "types" in values:
        values["types"] = list(values["types"])
    return values


def _answer(webhook: Webhook) -> WebhookAnswer:
    return WebhookAnswer(
        id=webhook.id,
        url=webhook.url,
        agents=webhook.agents,
        types=[each for each in EventType if each in webhook.types],
        enabled=webhook.enabled,
        disabled_reason=webhook.disabled_reason,
        position=str(webhook.position),
        attempts=webhook.attempts,
        due_at=webhook.due_at,
        deliveries=[Delivery.model_validate(each) for each in webhook.deliveries],
        created_at=webhook.created_at,
    )


def _with_secret(webhook: Webhook, secret: str) -> WebhookWithSecret:
    return WebhookWithSecret(**_answer(webhook).model_dump(), secret=secret)
