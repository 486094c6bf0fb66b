"""``memci jobs`` and ``memci retry``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from memci.cli.options import AgentOption, CursorOption, JsonOption, LimitOption
from memci.domain.lane.job import JobState
from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.client import Agent
    from memci.shapes.agent import JobAnswer


def jobs(
    *,
    job: Annotated[UUID | None, typer.Argument(metavar="[ID]", help="Show this one.")] = None,
    agent: AgentOption,
    state: Annotated[JobState | None, typer.Option(help="Only in this state.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    as_json: JsonOption = False,
) -> None:
    """List an agent's jobs in the order of its mailbox, or show one."""
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


def retry(
    *,
    job: Annotated[
        list[UUID] | None, typer.Argument(metavar="[ID]...", help="Dead jobs to run again.")
    ] = None,
    agent: AgentOption,
    every: Annotated[bool, typer.Option("--all", help="All dead jobs of the agent.")] = False,
    tail: Annotated[
        bool, typer.Option("--tail", help="Behind all that waits, not in its own place.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run dead jobs again."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json, say

    if bool(job) == every:
        raise InvalidInputError("name the dead jobs to run again, or say --all")
    with agent_of(agent) as memory:
        dead = _dead_jobs(memory) if every else job or []
        retried = [memory.replay(each, where="tail" if tail else "place") for each in dead]
    if as_json:
        print_json({"jobs": [each.model_dump(mode="json") for each in retried]})
    elif retried:
        print_jobs(retried)
    else:
        say("no dead job")


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
                each.started,
                each.created_at,
                each.finished_at,
                each.error,
            )
            for each in listed
        ),
    )


def _dead_jobs(memory: Agent) -> list[UUID]:
    """Return all dead jobs, the oldest first."""
    found: list[UUID] = []
    cursor: str | None = None
    while True:
        page = memory.jobs(state=JobState.DEAD, limit=500, cursor=cursor)
        found += [each.id for each in page.jobs]
        cursor = page.next_cursor
        if cursor is None:
            return found
