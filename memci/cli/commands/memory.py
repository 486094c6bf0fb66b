"""``memci memory``: add, correct, pin, delete, restore, focus, compress, consolidate, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from memci.cli.connection import agent_of, why_still
from memci.cli.options import AgentOption, AsOfOption, TimeoutOption, WaitOption, id_option
from memci.cli.output import counted, print_answer, print_list, shortened
from memci.domain.job import JobState
from memci.domain.memory.node import NodeType
from memci.errors import MemciError

if TYPE_CHECKING:
    from uuid import UUID

    from memci.client import Agent
    from memci.client.keyword_arguments import EditOptions
    from memci.schemas.agents import JobAnswer


MemoryId = Annotated[int, typer.Argument(metavar="ID", min=1, help="The memory.")]
MemoryIds = Annotated[list[int], typer.Argument(metavar="ID...", min=1, help="The memories.")]
TextArgument = Annotated[str, typer.Argument(help="One fact, in words that stand alone.")]
TypeOption = Annotated[NodeType | None, typer.Option("--type", help="Type of the memory.")]
WorthOption = Annotated[
    float | None, typer.Option(min=0, max=10, help="How much the memory matters.")
]
FadesOption = Annotated[bool, typer.Option("--fades", help="Do not pin it: it fades as others.")]


def add(
    *,
    text: TextArgument,
    agent: AgentOption,
    node_type: TypeOption = None,
    worth: WorthOption = None,
    fades: FadesOption = False,
    session: Annotated[str | None, id_option(help="Session of the memory.")] = None,
    user: Annotated[str | None, id_option(help="Whose memory it is (default: all users').")] = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Remember one fact as it is, without a conversation. It is pinned."""
    with agent_of(agent) as memory:
        answer = memory.add_memory(
            text, **_set(node_type, worth, fades), session_id=session, user_id=user
        )
        jobs = [answer.job_id] if answer.job_id else []
        made = _made(memory, jobs, timeout) if wait else ""
    print_answer(answer, made or f"stored as message {answer.message_ids[0]}; search finds it")


def correct(
    *,
    node: MemoryId,
    text: TextArgument,
    agent: AgentOption,
    node_type: TypeOption = None,
    worth: WorthOption = None,
    fades: FadesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Replace the text of a memory, which becomes another, pinned memory."""
    with agent_of(agent) as memory:
        answer = memory.correct_memory(node, text, **_set(node_type, worth, fades))
        made = _made(memory, answer.job_ids, timeout) if wait else ""
    print_answer(answer, f"memory {node} is corrected" + (made and f": {made}"))


def pin(*, nodes: MemoryIds, agent: AgentOption) -> None:
    """Pin memories: they neither fade nor are forgotten."""
    _pin(agent, nodes, pinned=True)


def unpin(*, nodes: MemoryIds, agent: AgentOption) -> None:
    """Unpin memories: they fade as others."""
    _pin(agent, nodes, pinned=False)


def delete(*, nodes: MemoryIds, agent: AgentOption) -> None:
    """Delete memories. Their messages stay, but reads do not show what they told."""
    with agent_of(agent) as memory:
        answer = memory.delete_memories(nodes)
    text = f"deleted {counted(len(answer.deleted), 'memory', 'memories')}"
    if answer.already:
        text += f"; deleted before: {', '.join(map(str, answer.already))}"
    print_answer(answer, text)


def _pin(agent: str, nodes: list[int], *, pinned: bool) -> None:
    with agent_of(agent) as memory:
        answer = memory.edit_memories([{"node_id": node, "pinned": pinned} for node in nodes])
    done = counted(len(answer.edited), "memory", "memories")
    print_answer(answer, f"{'pinned' if pinned else 'unpinned'} {done}")


def _set(node_type: NodeType | None, worth: float | None, fades: bool) -> EditOptions:  # noqa: FBT001
    named = {"type": node_type, "worth": worth, "pinned": False if fades else None}
    given: Any = {name: value for name, value in named.items() if value is not None}
    return cast("EditOptions", given)


def _made(memory: Agent, job_ids: list[UUID], timeout_s: float) -> str:
    """Wait for jobs; return the memories that they made."""
    if still := why_still(memory):
        raise MemciError(f"stored, but not waiting: {still}")
    jobs = [memory.wait(each, timeout_s=timeout_s) for each in job_ids]
    if not any((job.result or {}).get("memories") for job in jobs):
        return "no memory was made: its message is erased, or no slot is free"
    results: list[dict[str, Any]] = [job.result or {} for job in jobs]
    return f"memory {max(node for each in results for node in each.get('nodes', ()))}"


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
