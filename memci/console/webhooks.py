"""Webhooks: addresses that events are sent to, with their last attempts."""

from uuid import UUID

from starlette.responses import Response

from memci.api_keys import Scope
from memci.console.visit import Visit
from memci.domain.events import EventType
from memci.schemas.events import Delivery, EventReplay, WebhookChange, WebhookRequest
from memci.webhooks.manage import Webhooks


def _listing(
    visit: Visit,
    of: UUID | None = None,
    secret: str | None = None,
    tested: Delivery | None = None,
) -> Response:
    """Show all webhooks; ``of`` one, its secret that was just made, or the outcome of a test."""
    return visit.page(
        "webhooks.html",
        listed=_webhooks(visit).all().webhooks,
        types=list(EventType),
        of=of,
        secret=secret,
        tested=tested,
    )


def _webhooks(visit: Visit) -> Webhooks:
    return Webhooks(visit.runtime.courier, visit.request.state.agents)


def _id(visit: Visit) -> UUID:
    webhook_id: UUID = visit.request.path_params["webhook_id"]
    return webhook_id


def _add_webhook(visit: Visit) -> Response:
    request = visit.asked(
        WebhookRequest,
        url=visit.given("url"),
        agents=visit.given("agents"),
        types=[each for each in EventType if visit.given(f"type:{each}")],
    )
    added = _webhooks(visit).add(request)
    visit.request.state.subject = str(added.id)
    return _listing(visit, added.id, secret=added.secret)


def _rotate_webhook_secret(visit: Visit) -> Response:
    rotated = _webhooks(visit).rotate(_id(visit))
    return _listing(visit, rotated.id, secret=rotated.secret)


def _test_webhook(visit: Visit) -> Response:
    return _listing(visit, _id(visit), tested=_webhooks(visit).test(_id(visit)))


def _change_webhook(visit: Visit) -> Response:
    enabled = visit.given("enabled") == "1"
    _webhooks(visit).change(_id(visit), WebhookChange(enabled=enabled))
    return visit.back_to("webhooks", done="enable_webhook" if enabled else "disable_webhook")


def _replay_webhook(visit: Visit) -> Response:
    _webhooks(visit).replay(_id(visit), visit.asked(EventReplay, after=visit.given("after")))
    return visit.back_to("webhooks", done="replay_webhook")


def _remove_webhook(visit: Visit) -> Response:
    _webhooks(visit).remove(_id(visit))
    return visit.back_to("webhooks", done="remove_webhook")


PAGES = (("/webhooks", _listing, Scope.ADMIN),)
ACTIONS = (
    ("/webhooks", _add_webhook, Scope.ADMIN),
    ("/webhooks/{webhook_id:uuid}/change", _change_webhook, Scope.ADMIN),
    ("/webhooks/{webhook_id:uuid}/rotate", _rotate_webhook_secret, Scope.ADMIN),
    ("/webhooks/{webhook_id:uuid}/test", _test_webhook, Scope.ADMIN),
    ("/webhooks/{webhook_id:uuid}/replay", _replay_webhook, Scope.ADMIN),
    ("/webhooks/{webhook_id:uuid}/remove", _remove_webhook, Scope.ADMIN),
)
