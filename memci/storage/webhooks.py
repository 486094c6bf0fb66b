"""Rows of webhooks; all need an upkeep transaction.

One worker at a time delivers to a webhook: it holds a lease, and every note of its progress checks
that. A change by a person takes the lease away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.events import Position


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is sent the events of some agents, in order."""

    id: UUID
    url: str = field(repr=False)  # it may hold a token
    agents: str  # patterns, as of API keys
    types: frozenset[str]  # empty: all
    secrets: Sequence[str] = field(repr=False)  # that sign now
    enabled: bool
    disabled_reason: str | None
    position: Position  # up to which events were delivered
    attempts: int  # failed ones, of the next event
    due_at: datetime
    deliveries: Sequence[Mapping[str, Any]]  # the last attempts, the latest first
    created_at: datetime


_COLUMNS = """
id, url, agents, types, secret,
CASE WHEN former_until > now() THEN former_secret END AS former, enabled, disabled_reason,
tx, place, attempts, due_at, deliveries, created_at
"""
_ADD = f"""
INSERT INTO webhook (id, url, agents, types, secret, enabled, tx, place)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant of this module
_LIST = f"SELECT {_COLUMNS} FROM webhook ORDER BY created_at, id"  # noqa: S608 - as above
_READ = f"SELECT {_COLUMNS} FROM webhook WHERE id = %s"  # noqa: S608 - as above
# A change makes it due, and a delivery under way ends.
_CHANGE = f"""
UPDATE webhook SET {{}}, attempts = 0, due_at = now(), lease = NULL, leased_until = NULL
WHERE id = %(id)s RETURNING {_COLUMNS}
"""  # noqa: S608 - as above
_ROTATE = """
secret = %(secret)s, former_secret = secret, former_until = now() + interval '1 day'
"""
# Once more in a while: the task may be lost.
_MARK_DUE = """
UPDATE webhook SET due_at = now() + interval '5 seconds'
WHERE enabled AND due_at <= now() AND coalesce(leased_until < now(), true)
  AND EXISTS (SELECT FROM event WHERE (event.tx, event.place) > (webhook.tx, webhook.place)
                 AND event.tx < event_horizon())
RETURNING id
"""
_CLAIM = f"""
UPDATE webhook SET lease = %(lease)s, leased_until = now() + %(lease_s)s * interval '1 second'
WHERE id = %(id)s AND enabled AND coalesce(leased_until < now(), true) RETURNING {_COLUMNS}
"""  # noqa: S608 - as above
_NOTE = """
UPDATE webhook SET tx = %(tx)s, place = %(place)s, attempts = %(attempts)s,
    due_at = now() + %(wait_s)s * interval '1 second',
    leased_until = now() + %(lease_s)s * interval '1 second',
    enabled = %(reason)s::text IS NULL, disabled_reason = %(reason)s,
    deliveries = jsonb_path_query_array(%(delivery)s::jsonb || deliveries, '$[0 to 19]')
WHERE id = %(id)s AND lease = %(lease)s
"""
_FREE = """
UPDATE webhook SET tx = %(tx)s, place = %(place)s, lease = NULL, leased_until = NULL
WHERE id = %(id)s AND lease = %(lease)s
"""
_FAILING = """
SELECT id, enabled, disabled_reason, attempts FROM webhook WHERE NOT enabled OR attempts > 0
ORDER BY created_at, id
"""


def add_webhook(connection: Connection, webhook_id: UUID, **values: Any) -> Webhook:
    """Add a webhook: ``url``, ``agents``, ``types``, ``secret``, ``enabled``, ``position``."""
    names = ("url", "agents", "types", "secret", "enabled")
    row = (webhook_id, *(values[name] for name in names), *values["position"])
    return _webhook(connection.exec_driver_sql(_ADD, row).one())


def list_webhooks(connection: Connection) -> list[Webhook]:
    """Return all webhooks, the oldest first."""
    return [_webhook(row) for row in connection.exec_driver_sql(_LIST)]


def read_webhook(connection: Connection, webhook_id: UUID) -> Webhook | None:
    """Return a webhook; None if there is none."""
    return _optional(connection.exec_driver_sql(_READ, (webhook_id,)).first())


def change_webhook(connection: Connection, webhook_id: UUID, values: Mapping[str, Any]) -> Webhook:
    """Set ``url``, ``agents``, ``types``, ``enabled``, ``tx`` or ``place`` of one that is there."""
    reset = {"disabled_reason": None} if values.get("enabled") else {}
    parameters = {**values, **reset, "id": webhook_id}
    assignments = ", ".join(f"{name} = %({name})s" for name in parameters)
    return _webhook(connection.exec_driver_sql(_CHANGE.format(assignments), parameters).one())


def rotate_secret(connection: Connection, webhook_id: UUID, secret: str) -> Webhook:
    """Set a new secret; the one before signs too for a day."""
    values = {"secret": secret, "id": webhook_id}
    return _webhook(connection.exec_driver_sql(_CHANGE.format(_ROTATE), values).one())


def remove_webhook(connection: Connection, webhook_id: UUID) -> None:
    """Delete a webhook."""
    connection.exec_driver_sql("DELETE FROM webhook WHERE id = %s", (webhook_id,))


def mark_due(connection: Connection) -> list[UUID]:
    """Return the webhooks to deliver to now; they are due again soon, should the caller fail."""
    return list(connection.exec_driver_sql(_MARK_DUE).scalars())


def claim(connection: Connection, webhook_id: UUID, lease: UUID, lease_s: float) -> Webhook | None:
    """Take a lease; None if another worker has one, or the webhook is disabled or gone."""
    values = {"id": webhook_id, "lease": lease, "lease_s": lease_s}
    return _optional(connection.exec_driver_sql(_CLAIM, values).first())


def note_attempt(connection: Connection, webhook_id: UUID, lease: UUID, **values: Any) -> bool:
    """Note an attempt, and renew the lease; return False if it was lost.

    ``position``: up to which events are delivered now. ``attempts`` and ``wait_s``: failed ones,
    and the time before the next. ``reason``: why the webhook is disabled, or None.
    """
    tx, place = values.pop("position")
    delivery = Jsonb([values.pop("delivery")])
    parameters = {"id": webhook_id, "lease": lease, "tx": tx, "place": place, "delivery": delivery}
    return connection.exec_driver_sql(_NOTE, {**parameters, **values}).rowcount == 1


def free(connection: Connection, webhook_id: UUID, lease: UUID, position: Position) -> None:
    """Give the lease back, if it was not lost; later events make the webhook due."""
    values = {"id": webhook_id, "lease": lease, "tx": position.tx, "place": position.place}
    connection.exec_driver_sql(_FREE, values)


def failing_webhooks(connection: Connection) -> list[tuple[UUID, bool, str | None, int]]:
    """Return those that are disabled or behind: id, enabled, reason, failed attempts."""
    return [(row[0], row[1], row[2], row[3]) for row in connection.exec_driver_sql(_FAILING)]


def _optional(row: Any) -> Webhook | None:
    return None if row is None else _webhook(row)


def _webhook(row: Any) -> Webhook:
    return Webhook(
        id=row.id,
        url=row.url,
        agents=row.agents,
        types=frozenset(row.types),
        secrets=[each for each in (row.secret, row.former) if each],
        enabled=row.enabled,
        disabled_reason=row.disabled_reason,
        position=Position(row.tx, row.place),
        attempts=row.attempts,
        due_at=row.due_at,
        deliveries=row.deliveries,
        created_at=row.created_at,
    )
