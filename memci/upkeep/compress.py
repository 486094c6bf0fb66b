"""Asks for the passes that time brings (M16)."""

from __future__ import annotations

from memci.storage.session import Database

# One pass for every agent that was written to or read since beat last asked for one. Whoever has
# a pass waiting already gets no second one; two beats in one period ask once.
_ACTIVE = """
UPDATE lane SET beat_at = now(),
                compress_req = CASE WHEN compress_req > compress_done THEN compress_req
                                    ELSE compress_req + 1 END
WHERE greatest(written_at, read_at) > coalesce(beat_at, '-infinity')
  AND coalesce(beat_at, '-infinity') <= now() - %(quiet)s * interval '1 second'
"""
_IDLE = """
UPDATE lane SET beat_at = now(), compress_req = compress_req + 1
WHERE compress_req = compress_done AND pass_number > 0
  AND coalesce(beat_at, '-infinity') <= now() - %(quiet)s * interval '1 second'
"""
_DAY_S = 86_400
# A period that comes a little early is still that period.
_EARLY = 0.9


def request_due_passes(database: Database, *, period_s: float, idle_passes_per_day: int) -> int:
    """Raise the request of every agent that is due; the sweeper wakes the workers.

    Returns how many agents that were.
    """
    with database.upkeep_transaction() as connection:
        due = connection.exec_driver_sql(_ACTIVE, {"quiet": period_s * _EARLY}).rowcount
        if idle_passes_per_day:
            quiet = {"quiet": _DAY_S / idle_passes_per_day}
            due += connection.exec_driver_sql(_IDLE, quiet).rowcount
    return due
