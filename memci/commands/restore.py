"""Have a forgotten memory made anew from its raw messages (M24)."""

from __future__ import annotations

from memci.broker.token import Tokens
from memci.domain.memory.node import NodeKind
from memci.domain.memory.passage import details_of
from memci.errors import ConflictError, NotFoundError
from memci.queue.steps import submit_restore
from memci.queue.submit import lock_agent, unlock_lane
from memci.shapes.edition import RestoreAnswer
from memci.storage.origins import Origin, last_restored, memory_telling, origin_of
from memci.storage.session import Connection, Database


def run(database: Database, tokens: Tokens, agent_id: str, node_id: int) -> RestoreAnswer:
    """Queue it; asking twice is asking once.

    Raises ``NotFoundError`` when there never was such a node, or no such agent, and
    ``ConflictError`` when there is nothing to restore, or nothing to restore it from.
    """
    with database.agent_transaction(agent_id) as connection:
        woken = lock_agent(connection, agent_id)
        origin = origin_of(connection, agent_id, node_id)
        if origin is None:
            raise NotFoundError("there never was such a node")
        before = last_restored(connection, agent_id, node_id)
        if before is not None and before.lives:
            unlock_lane(connection, agent_id, woken=woken)
            return RestoreAnswer(job_id=before.job_id, node_id=node_id, restored_as=before.node_id)
        _check(connection, agent_id, node_id, origin)
        if before is not None:
            raise ConflictError(
                f"node {node_id} was restored as node {before.node_id}, which is forgotten: "
                "restore that one"
            )
        payload = {"node": node_id, "seqs": origin.seqs, **details_of(origin.passages)}
        job_id = submit_restore(connection, agent_id, payload)
    # A worker that looked while the lane was locked has gone again.
    tokens.wake_lane(agent_id)
    return RestoreAnswer(job_id=job_id, node_id=node_id, restored_as=None)


def _check(connection: Connection, agent_id: str, node_id: int, origin: Origin) -> None:
    if origin.lives:
        raise ConflictError(f"node {node_id} is not forgotten: there is nothing to restore")
    if origin.kind is NodeKind.ENTITY:
        raise ConflictError(
            f"node {node_id} was an entity: mention it by its name, and it is in the focus again"
        )
    if not origin.complete:
        raise ConflictError(f"the messages that node {node_id} was made of are erased")
    living = memory_telling(connection, agent_id, origin)
    if living is not None:
        raise ConflictError(f"node {living} was made of the same, and is not forgotten")
