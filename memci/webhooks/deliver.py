"""Delivers events to webhooks: in order, at least once, with growing pauses after failures."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import uniform
from threading import Event as Flag
from threading import Thread
from uuid import UUID, uuid4

import structlog

from memci.api_keys import is_for
from memci.broker.wakeup import Wakeups
from memci.domain.events import StoredEvent
from memci.errors import UnavailableError
from memci.schemas.events import Event
from memci.storage.events import events_after
from memci.storage.session import Database
from memci.storage.webhooks import Webhook, claim, free, mark_due, note_attempt
from memci.webhooks.send import GONE, Outcome, Sender

_log = structlog.get_logger(__name__)

_AT_ONCE = 200
# Seconds that one task delivers to one webhook, before it lets others have their turn.
_SLICE_S = 10.0
# Seconds beside an attempt, to note its outcome.
_NOTE_S = 5.0
_JITTER = 0.1


@dataclass(frozen=True)
class Courier:
    """Delivers to one webhook after another; safe for threads."""

    database: Database
    stopping: Flag
    retries_s: Sequence[float]
    timeout_s: float
    allow_private: bool

    def deliver(self, webhook_id: UUID) -> None:
        """Deliver what is due, for some seconds at most; nothing if another worker does."""
        lease = uuid4()
        with self.database.upkeep_transaction() as connection:
            webhook = claim(connection, webhook_id, lease, self.lease_s)
        if webhook is not None:
            asyncio.run(_Round(self, webhook, lease).run())

    def sender(self, webhook: Webhook) -> Sender:
        """Return a sender to a webhook."""
        return Sender(
            webhook.url,
            webhook.secrets,
            timeout_s=self.timeout_s,
            allow_private=self.allow_private,
        )

    @property
    def lease_s(self) -> float:
        """Seconds that one attempt and the note of its outcome may take."""
        return self.timeout_s + _NOTE_S


class _Round:
    """The delivery of one task to one webhook."""

    def __init__(self, courier: Courier, webhook: Webhook, lease: UUID) -> None:
        self.courier = courier
        self.webhook = webhook
        self.lease = lease
        self.position = webhook.position
        self.attempts = webhook.attempts
        self.ends = time.monotonic() + _SLICE_S

    async def run(self) -> None:
        """Deliver until there is no more, or an attempt fails, or the time is over."""
        database = self.courier.database
        async with self.courier.sender(self.webhook) as sender:
            while not self._is_over():
                with database.upkeep_transaction() as connection:
                    events = events_after(connection, self.position, limit=_AT_ONCE)
                if not events:
                    break
                for event in events:
                    if self._is_over():
                        break
                    if _wants(self.webhook, event) and not await self._deliver(sender, event):
                        return
                    self.position = event.position
        with database.upkeep_transaction() as connection:
            free(connection, self.webhook.id, self.lease, self.position)

    async def _deliver(self, sender: Sender, event: StoredEvent) -> bool:
        """Make one attempt; return True if the next event may follow."""
        body = Event.of(event).model_dump_json().encode()
        outcome = await sender.send(str(event.position), body)
        attempt = self.attempts + 1
        if outcome.error is None:
            self.position, self.attempts = event.position, 0
        else:
            self.attempts = attempt
        delivery = delivery_of(str(event.position), event.type, outcome, attempt)
        return self._note(outcome, delivery) and outcome.error is None

    def _note(self, outcome: Outcome, delivery: Mapping[str, object]) -> bool:
        """Store the outcome; return False if the lease was lost."""
        reason = self._reason(outcome)
        failed = outcome.error is not None
        wait_s = 0.0
        if failed and reason is None:
            wait_s = self.courier.retries_s[self.attempts - 1] * uniform(1 - _JITTER, 1 + _JITTER)
        with self.courier.database.upkeep_transaction() as connection:
            held = note_attempt(
                connection,
                self.webhook.id,
                self.lease,
                position=self.position,
                attempts=self.attempts,
                wait_s=wait_s,
                # After a failure nobody delivers before it is due again, also no task that waited.
                lease_s=wait_s if failed else self.courier.lease_s,
                reason=reason,
                delivery=delivery,
            )
        if held and reason is not None:
            _log.warning("webhook disabled", webhook_id=str(self.webhook.id), reason=reason)
        return held

    def _reason(self, outcome: Outcome) -> str | None:
        """Return why the webhook is disabled; None: it is not."""
        if outcome.status == GONE:
            return "the receiver answered 410: it is gone"
        if self.attempts > len(self.courier.retries_s):
            return f"{self.attempts} attempts failed: {outcome.error}"
        return None

    def _is_over(self) -> bool:
        return time.monotonic() > self.ends or self.courier.stopping.is_set()


def _wants(webhook: Webhook, event: StoredEvent) -> bool:
    is_of_type = not webhook.types or event.type in webhook.types
    return is_of_type and is_for(webhook.agents, event.agent_id)


def delivery_of(event_id: str, kind: str, outcome: Outcome, attempt: int) -> dict[str, object]:
    """Return what is kept of an attempt: no agent, and nothing that was sent or answered."""
    return {
        "event_id": event_id,
        "type": kind,
        "attempt": attempt,
        "status": outcome.status,
        "error": outcome.error,
        "elapsed_ms": outcome.elapsed_ms,
        "at": datetime.now(UTC).isoformat(),
    }


_PERIOD_S = 0.5


class WebhookWatch:
    """Publishes a wakeup for each webhook that is due; any number may run.

    It looks twice a second: a commit alone does not tell that an event is complete, as a
    transaction that began before may still run.
    """

    def __init__(self, database: Database, wakeups: Wakeups) -> None:
        self._database = database
        self._wakeups = wakeups
        self._stop = Flag()
        self._thread = Thread(target=self._run, name="webhook-watch", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; return when the thread has ended."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD_S):
            try:
                with self._database.upkeep_transaction() as connection:
                    due = mark_due(connection)
            except UnavailableError as error:
                _log.warning("webhook watch failed", error=type(error).__name__)
            else:
                if due:
                    self._wakeups.wake_webhooks(due)
