"""``memci webhooks``: send events of agents to addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from memci.cli.connection import connected
from memci.cli.output import hint, print_list, printed_json, say
from memci.errors import MemciError

if TYPE_CHECKING:
    from memci.schemas.events import WebhookAnswer, WebhookWithSecret

_Webhook = Annotated[UUID, typer.Argument(metavar="ID", help="The webhook.")]


def list_webhooks() -> None:
    """List webhooks."""
    with connected() as memci:
        found = memci.webhooks()
    print_list(found, map(_row, found.webhooks))


def add(
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to send events.")],
    agents: Annotated[
        str, typer.Option(metavar="PATTERNS", help="Patterns of agents, with commas between.")
    ] = "*",
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only events such as memory.created; may be repeated."
        ),
    ] = None,
) -> None:
    """Send events to an address from now on.

    The secret that signs them is shown once.
    """
    with connected() as memci:
        _show_secret(memci.add_webhook(url, agents=agents, types=types or ()))


def remove(*, webhook: _Webhook) -> None:
    """Remove a webhook."""
    with connected() as memci:
        removed = memci.remove_webhook(webhook)
    print_list(removed, [_row(removed)])


def enable(*, webhook: _Webhook) -> None:
    """Enable a webhook again, and try at once."""
    with connected() as memci:
        changed = memci.change_webhook(webhook, enabled=True)
    print_list(changed, [_row(changed)])


def test(*, webhook: _Webhook) -> None:
    """Send an event that says nothing, and show the outcome."""
    with connected() as memci:
        sent = memci.test_webhook(webhook)
    if not printed_json(sent) and sent.error is None:
        say(f"delivered: {sent.status}, in {sent.elapsed_ms} ms")
    if sent.error is not None:
        raise MemciError(f"not delivered: {sent.error}")


def replay(
    *,
    webhook: _Webhook,
    after: Annotated[
        str | None,
        typer.Option(metavar="EVENT", help="Begin after this event; else with the oldest."),
    ] = None,
) -> None:
    """Deliver events again, as far as they are kept."""
    with connected() as memci:
        changed = memci.replay_webhook(webhook, after=after)
    print_list(changed, [_row(changed)])


def rotate(*, webhook: _Webhook) -> None:
    """Make a new secret; for a day, both sign."""
    with connected() as memci:
        _show_secret(memci.rotate_webhook_secret(webhook))


def _show_secret(webhook: WebhookWithSecret) -> None:
    if not printed_json(webhook):
        say(f"id:     {webhook.id}")
        say(f"secret: {webhook.secret}")
        hint("It is shown once. `memci webhooks test ID` sends an event.")


def _row(webhook: WebhookAnswer) -> dict[str, object]:
    last = webhook.deliveries[0].error or "delivered" if webhook.deliveries else ""
    return {
        "id": webhook.id,
        "url": webhook.url,
        "agents": webhook.agents,
        "types": ",".join(webhook.types),
        "state": "enabled" if webhook.enabled else webhook.disabled_reason or "disabled",
        "failed": webhook.attempts,
        "last": last,
        "position": webhook.position,
    }
