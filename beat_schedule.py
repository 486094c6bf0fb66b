"""What runs when: a plain table. Every duty is idempotent, so two beats do no harm.

The scheduler keeps nothing on disk: what is due stands in the database.
"""

from typing import Any

from memci.broker.names import UPKEEP_QUEUE, queue
from memci.config.settings import Settings

# Periods, in seconds. Passes are due by the database's own note of the last one, and memories by
# the end of their term; beat only asks often enough.
_COMPRESS_S = 60.0
_CONSOLIDATE_S = 600.0
_PRUNE_S = 3600.0
_ORPHANS_S = 86_400.0
_JANITOR_S = 86_400.0
# A lost wakeup is repeated several times within a lease.
_SWEEPS_PER_LEASE = 6


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return Celery beat's table for these settings."""
    duties = [
        ("memci.upkeep.sweep", settings.queue_lease_ms / 1000 / _SWEEPS_PER_LEASE),
        ("memci.upkeep.compress", min(settings.upkeep_compress_period_s, _COMPRESS_S)),
        ("memci.upkeep.consolidate", _CONSOLIDATE_S),
        ("memci.upkeep.prune", _PRUNE_S),
        ("memci.upkeep.orphans", _ORPHANS_S),
        ("memci.upkeep.janitor", _JANITOR_S),
    ]
    return {task: _entry(task, period_s) for task, period_s in duties}


def _entry(task: str, period_s: float) -> dict[str, Any]:
    # A duty that was not begun within its period is dropped: the next one does the same.
    return {
        "task": task,
        "schedule": period_s,
        "options": {"queue": queue(UPKEEP_QUEUE), "expires": period_s},
    }
