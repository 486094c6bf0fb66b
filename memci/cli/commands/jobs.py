"""``memci jobs``: list jobs, run them again, discard or cancel them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from memci.cli.connection import agent_of, every_page
from memci.cli.options import AgentOption, CursorOption, LimitOption
from memci.cli.output import hint, print_list, print_rows, printed_json, say
from memci.domain.job import JobState
from memci.errors import ConflictError, InvalidInputError, MemciError, NotFoundError

if TYPE_CHECKING:
    from memci.client import Agent
    from memci.schemas.agents import JobAnswer


def list_jobs(
    *,
    agent: AgentOption,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
) -> None:
    """List an agent's jobs in mailbox order."""
    options: dict[str, Any] = {"state": state, "limit": limit, "cursor": cursor}
    with agent_of(agent) as memory:
        listed = memory.jobs(**options)
    print_list(listed, map(_row, listed.jobs))


def show(
    *, job: Annotated[UUID, typer.Argument(metavar="ID", help="The job.")], agent: AgentOption
) -> None:
    """Show one job."""
    with agent_of(agent) as memory:
        found = memory.job(job)
    print_list(found, [_row(found)])


def tries(job: JobAnswer) -> int:
    """Return how often a job was begun; ``started`` no longer counts the run that ended it."""
    return job.attempts + job.started + (job.state is JobState.DONE)


def _row(job: JobAnswer) -> dict[str, object]:
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "messages": "" if job.first_seq is None else f"{job.first_seq}-{job.last_seq}",
        "tries": tries(job),
        "made": job.created_at,
        "finished": job.finished_at,
        "error": job.error,
    }


_AllOption = Annotated[bool, typer.Option("--all", help="All dead jobs of the agent.")]


def retry(
    *,
    job: Annotated[
        list[UUID] | None, typer.Argument(metavar="ID", help="Dead jobs to run again.")
    ] = None,
    agent: AgentOption,
    every: _AllOption = False,
    tail: Annotated[bool, typer.Option("--tail", help="Run after all queued jobs.")] = False,
) -> None:
    """Run dead jobs again."""
    with agent_of(agent) as memory:
        _act(
            _chosen(memory, job, every=every, what="run again"),
            lambda each: memory.replay(each, where="tail" if tail else "place"),
        )


def discard(
    *,
    job: Annotated[
        list[UUID] | None, typer.Argument(metavar="ID", help="Dead jobs to discard.")
    ] = None,
    agent: AgentOption,
    every: _AllOption = False,
) -> None:
    """Discard dead jobs.

    They never run again.
    """
    with agent_of(agent) as memory:
        chosen = _chosen(memory, job, every=every, what="discard")
        _act(chosen, memory.discard)


def cancel(
    *,
    job: Annotated[list[UUID], typer.Argument(metavar="ID", help="Queued jobs.")],
    agent: AgentOption,
) -> None:
    """Cancel queued jobs."""
    with agent_of(agent) as memory:
        _act(job, memory.cancel)


def _chosen(memory: Agent, named: list[UUID] | None, *, every: bool, what: str) -> Sequence[UUID]:
    if bool(named) == every:
        raise InvalidInputError(f"name the dead jobs to {what}, or use --all")
    return named or _dead_jobs(memory)


def _act(chosen: Sequence[UUID], act: Callable[[UUID], JobAnswer]) -> None:
    """Call ``act`` for each job; raise ``MemciError`` at the end if some jobs refused."""
    done: list[JobAnswer] = []
    refused: list[str] = []
    for each in chosen:
        try:
            done.append(act(each))
        except (ConflictError, InvalidInputError, NotFoundError) as error:
            refused.append(f"job {each}: {error}")
    if not printed_json({"jobs": done}):
        if done:
            print_rows(map(_row, done))
        elif not chosen:
            say("no dead job")
    if refused:
        for line in refused[:-1]:
            hint(line)
        count = f"{len(refused)} of {len(chosen)} failed: " if len(chosen) > 1 else ""
        raise MemciError(count + refused[-1])


def _dead_jobs(memory: Agent) -> list[UUID]:
    pages = every_page(lambda at: memory.jobs(state=JobState.DEAD, limit=500, cursor=at))
    return [each.id for page in pages for each in page.jobs]
