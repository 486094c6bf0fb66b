"""What runs when: a plain table. Every duty is idempotent, so two beats do no harm.

The scheduler keeps nothing on disk: what is due stands in the database.
"""

from __future__ import annotations

from typing import Any

from memci.broker.names import UPKEEP_QUEUE, queue
from memci.config.settings import Settings

# Passes are due by the database's own note of the last one; beat only asks often enough.
_LONGEST_S = 60.0


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return Celery beat's table for these settings."""
    ask_for_passes_s = min(settings.compress_period_s, _LONGEST_S)
    duties = [
        ("memci.upkeep.sweep", settings.sweep_period_s),
        ("memci.upkeep.compress", ask_for_passes_s),
        ("memci.upkeep.consolidate", settings.consolidate_period_s),
        ("memci.upkeep.prune", settings.prune_period_s),
        ("memci.upkeep.orphans", settings.page_sweep_period_s),
        ("memci.upkeep.janitor", settings.janitor_period_s),
    ]
    return {task: _entry(task, period_s) for task, period_s in duties}


def _entry(task: str, period_s: float) -> dict[str, Any]:
    # A duty that was not begun within its period is dropped: the next one does the same.
    return {
        "task": task,
        "schedule": period_s,
        "options": {"queue": queue(UPKEEP_QUEUE), "expires": period_s},
    }
