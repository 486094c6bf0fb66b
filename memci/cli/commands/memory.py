"""``memci memory``: restore, focus, compress, consolidate, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.connection import agent_of, why_still
from memci.cli.options import AgentOption, AsOfOption, TimeoutOption, WaitOption
from memci.cli.output import print_answer, print_list, shortened
from memci.domain.job import JobState
from memci.errors import MemciError

if TYPE_CHECKING:
    from memci.schemas.agents import JobAnswer


def restore(
    *,
    node: Annotated[int, typer.Argument(metavar="ID", min=1, help="The forgotten node.")],
    agent: AgentOption,
    wait: WaitOption = False,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Restore a forgotten memory from its messages."""
    with agent_of(agent) as memory:
        answer = memory.restore(node)
        if answer.restored_as is not None:
            before = f"restored before, as node {answer.restored_as}; nothing was done"
            print_answer(answer, before)
            return
        if wait and (still := why_still(memory)):
            raise MemciError(f"requested, but not waiting: {still}")
        job = memory.wait(answer.job_id, timeout_s=timeout) if wait else None
    text = f"node {node} is to be restored (job {answer.job_id})"
    if job is not None:
        made = (job.result or {}).get("node")
        text = f"restored as node {made}" if made else _restore_failure(job)
    print_answer(job or answer, text)


def _restore_failure(job: JobAnswer) -> str:
    if job.state is JobState.DONE:
        return "nothing was restored: its messages are erased, or no slot is free"
    return f"nothing was restored: job {job.id} is {job.state}" + (
        f" ({job.error})" * bool(job.error)
    )


def focus(
    *,
    entity: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The entity to bring into the focus.")
    ] = None,
    agent: AgentOption,
) -> None:
    """Bring an entity into an agent's focus, or show the focus."""
    with agent_of(agent) as memory:
        points = memory.focus() if entity is None else memory.mention(entity)
    rows = ({"node": each.node_id, "name": each.name} for each in points.focus)
    print_list(points, rows)


def compress(
    *,
    agent: AgentOption,
    reason: Annotated[str | None, typer.Option(help="Reason, for the log.")] = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 300.0,
) -> None:
    """Request one more compression pass over an agent's memories."""
    with agent_of(agent) as memory:
        answer = memory.compress(reason=reason)
        if wait and (still := why_still(memory)):
            raise MemciError(f"requested, but not waiting: {still}")
        about = memory.wait_idle(timeout_s=timeout) if wait else None
    waits = "was already requested" if answer.coalesced else "is requested"
    text = f"compression {waits} (pass {answer.round})"
    if about is not None:
        text = f"pass {about.passes} done: {about.nodes} nodes, {about.links} links"
    print_answer(about or answer, text)


def consolidate(
    *, agent: AgentOption, wait: WaitOption = False, timeout: TimeoutOption = 60.0
) -> None:
    """Merge memories that say the same, and judge expired short-term memories."""
    with agent_of(agent) as memory:
        answer = memory.consolidate()
        job = memory.wait(answer.job_id, timeout_s=timeout) if wait else None
    text = f"consolidation is {'already queued' if answer.coalesced else 'queued'}"
    if job is not None:
        done: dict[str, Any] = job.result or {}
        text = (
            f"merged {done.get('merged', 0)} memories into {len(done.get('nodes', []))}; "
            f"{done.get('settled', 0)} became long-term, {done.get('promoted', 0)} of them promoted"
        )
    print_answer(job or answer, text)


def history(
    *,
    node: Annotated[int, typer.Argument(metavar="ID", help="A memory; it may be removed.")],
    agent: AgentOption,
    as_of: AsOfOption = None,
) -> None:
    """Show all versions of a memory."""
    with agent_of(agent) as memory:
        found = memory.history(node, as_of=as_of)
    rows = (
        {
            "id": each.node_id,
            "said": each.said_at,
            "state": f"{each.state}{', believed' if each.holds else ''}",
            "until": each.until,
            "replaced by": each.replaced_by,
            "content": shortened(each.content or "", 80),
        }
        for each in found.versions
    )
    print_list(found, rows)
