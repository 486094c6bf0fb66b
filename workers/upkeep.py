"""Periodic duties, as tasks; beat_schedule.py says when."""

from threading import BoundedSemaphore
from typing import Any
from uuid import UUID

from memci.broker.names import DELIVER_TASK, UPKEEP_QUEUE, queue
from memci.broker.redis_queues import remove_binding_keys
from memci.queue.sweep import prune_ended_jobs, request_due_consolidations, request_due_passes
from memci.queue.sweep import sweep as sweep_lanes
from memci.upkeep.duties import prune_audit, prune_old_events, prune_receipts, remove_orphans
from workers.app import app
from workers.lifecycle import runtime

# Age of a text that no page needs, in seconds, before it is removed. Longer than any transaction,
# and than the time between the back-ups of database and page store.
_GRACE_S = 86_400.0
# Deliveries at once: other threads of the worker are for the duties.
_MOST_DELIVERIES = 12
_deliveries = BoundedSemaphore(_MOST_DELIVERIES)


@app.task(name="memci.upkeep.sweep")
def sweep(**_: Any) -> None:
    """Publish missing wakeups."""
    here = runtime()
    sweep_lanes(here.database, here.agent_queues, here.wakeups)


@app.task(name="memci.upkeep.compress")
def compress(**_: Any) -> None:
    """Ask for the passes that time brings (M16)."""
    here = runtime()
    request_due_passes(
        here.database,
        period_s=here.settings.upkeep_compress_period_s,
        idle_passes_per_day=here.settings.upkeep_idle_passes_per_day,
    )


@app.task(name="memci.upkeep.consolidate")
def consolidate(**_: Any) -> None:
    """Ask for agents whose short-term memories have come to the end of their term (R5)."""
    request_due_consolidations(runtime().database)


@app.task(name="memci.upkeep.prune")
def prune(**_: Any) -> None:
    """Remove done jobs, old receipts, old events, and the end of the audit log."""
    here = runtime()
    prune_ended_jobs(here.database, keep_s=here.settings.upkeep_keep_done_jobs_s)
    prune_receipts(here.database, keep_s=here.settings.upkeep_keep_receipts_s)
    prune_old_events(here.database, keep_s=here.settings.upkeep_keep_events_s)
    prune_audit(here.database, keep_s=here.settings.upkeep_keep_audit_s)


@app.task(name=DELIVER_TASK)
def deliver(webhook_id: str, **_: Any) -> None:
    """Deliver events to a webhook; too many at once are due again in some seconds."""
    if _deliveries.acquire(blocking=False):
        try:
            runtime().courier.deliver(UUID(webhook_id))
        finally:
            _deliveries.release()


@app.task(name="memci.upkeep.janitor")
def janitor(**_: Any) -> None:
    """Remove binding keys that producers left in Redis."""
    client = runtime().redis
    if client is not None:
        remove_binding_keys(client)


@app.task(name="memci.upkeep.orphans")
def orphans(after: str = "", **_: Any) -> None:
    """Remove texts of notes that no page needs any more; another task continues with more agents.

    If that task is lost, the next period begins with the first agent.
    """
    here = runtime()
    batch = remove_orphans(here.database, here.page_store, grace_s=_GRACE_S, after=after)
    if batch.after is not None:
        orphans.apply_async(kwargs={"after": batch.after}, queue=queue(UPKEEP_QUEUE))
