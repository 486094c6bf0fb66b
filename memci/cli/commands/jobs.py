"""``memci jobs``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from memci.cli.options import AgentOption, CursorOption, JsonOption, LimitOption
from memci.domain.lane.job import JobState

if TYPE_CHECKING:
    from memci.shapes.agent import JobAnswer


def jobs(
    *,
    job: Annotated[UUID | None, typer.Argument(metavar="ID", help="Show this one.")] = None,
    agent: AgentOption,
    state: Annotated[JobState | None, typer.Option(help="Only in this state.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    as_json: JsonOption = False,
) -> None:
    """List an agent's jobs in mailbox order, or show one."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json, print_next

    options: dict[str, Any] = {"limit": limit, "cursor": cursor, "state": state}
    with agent_of(agent) as memory:
        if job is not None:
            one = memory.job(job)
            print_json(one) if as_json else print_jobs([one])
            return
        listed = memory.jobs(**options)
    if as_json:
        print_json(listed)
        return
    print_jobs(listed.jobs)
    print_next(listed.next_cursor)


def tries(job: JobAnswer) -> int:
    """Return how often it was begun: one that came to an end is no longer among ``started``."""
    return job.attempts + job.started + (job.state is JobState.DONE)


def print_jobs(listed: list[JobAnswer]) -> None:
    """Print jobs, one a line."""
    from memci.cli.output import print_table

    print_table(
        ("id", "kind", "state", "messages", "tries", "made", "finished", "error"),
        (
            (
                each.id,
                each.kind,
                each.state,
                "" if each.first_seq is None else f"{each.first_seq}-{each.last_seq}",
                tries(each),
                each.created_at,
                each.finished_at,
                each.error,
            )
            for each in listed
        ),
    )
