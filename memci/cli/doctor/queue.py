"""Does work move."""

from __future__ import annotations

from collections.abc import Iterator

from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.cli.output import counted
from memci.errors import UnavailableError
from memci.storage.diagnosis import Standstill, standstill
from memci.storage.gauges import lane_gauges
from memci.storage.session import Database

_OLD_S = 300.0
_OVERDUE_S = 600.0


def check_queue(database: Database, *, token_stale_s: float) -> Iterator[Finding]:
    """Look at mailboxes and lanes."""
    try:
        with database.upkeep_transaction() as connection:
            gauges = lane_gauges(connection, token_stale_s=token_stale_s)
            still = standstill(connection, overdue_s=_OVERDUE_S)
    except UnavailableError as error:
        yield wrong("queue", str(error), "see the database above")
        return
    if still.oldest_waiting_age_s > _OLD_S:
        hint = "start more lane workers, or see why these do not keep up"
        yield wrong("queue", _waiting(still), hint)
    else:
        yield ok("queue", _waiting(still))
    if gauges.lanes_due_unclaimed:
        yield wrong(
            "lanes",
            f"{counted(int(gauges.lanes_due_unclaimed), 'lane')} with work that no worker "
            "has claimed",
            "do lane and compress workers, beat and upkeep run? (their pools are listed here)",
        )
    if still.overdue:
        yield wrong(
            "leases",
            f"a job runs for more than {_OVERDUE_S / 60:.0f} minutes: {', '.join(still.overdue)}",
            "see that worker's log; a worker that is killed gives its lease back in half a minute",
        )
    else:
        yield ok("leases", f"{gauges.leases:.0f} held, none for too long")
    if gauges.dead_jobs:
        yield wrong(
            "dead jobs",
            f"{counted(int(gauges.dead_jobs), 'job')} failed for good: "
            + ", ".join(f"{agent} ({count})" for agent, count in still.dead),
            "`memci jobs --agent ID --state dead` says why, `memci retry` runs them again, "
            "`memci discard` gives them up",
        )
    if still.halted:
        yield wrong(
            "halted",
            f"stopped by a dead job: {', '.join(still.halted)}",
            "`memci retry --agent ID`, or `memci resume --agent ID` to go on without it",
        )
    if still.paused:
        yield note("paused", ", ".join(still.paused), "`memci resume --agent ID` lets one go on")


def _waiting(still: Standstill) -> str:
    wait = "waits" if still.waiting == 1 else "wait"
    held = f"; {still.held} more of agents that are paused or halted" if still.held else ""
    jobs = counted(still.waiting, "job")
    return f"{jobs} {wait}, the oldest for {still.oldest_waiting_age_s:.0f} s{held}"
