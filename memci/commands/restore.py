"""Have a forgotten memory made anew from its raw messages (M24)."""

from __future__ import annotations

from memci.broker.token import Tokens
from memci.domain.memory.fate import Fate
from memci.domain.memory.node import NodeKind
from memci.domain.memory.passage import details_of
from memci.errors import ConflictError, NotFoundError
from memci.queue.steps import submit_restore
from memci.queue.submit import lock_agent, unlock_lane
from memci.shapes.edition import RestoreAnswer
from memci.storage.heirs import fates_of, heirs_of, was_merged
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
    _check_heir(connection, agent_id, node_id)
    if fates_of(connection, agent_id, [node_id])[node_id] is Fate.ERASED:
        raise ConflictError(
            f"node {node_id} was erased with messages that it was made of: what is left of them "
            "was remembered again"
        )
    _check_whole(connection, agent_id, node_id, origin)


def _check_heir(connection: Connection, agent_id: str, node_id: int) -> None:
    """Raise ``ConflictError`` where another node, living or not, stands for this one."""
    heir = heirs_of(connection, agent_id, [node_id])[node_id]
    if heir.last == node_id:
        return
    merged = was_merged(connection, agent_id, node_id)
    became = f"node {node_id} was {'merged into' if merged else 'restored as'} node"
    if heir.living is not None:
        raise ConflictError(f"{became} {heir.living}, which lives: there is nothing to restore")
    if fates_of(connection, agent_id, [heir.last])[heir.last] is Fate.ERASED:
        raise ConflictError(f"{became} {heir.last}, which was erased")
    origin = origin_of(connection, agent_id, heir.last)
    if origin is not None:
        _check_whole(connection, agent_id, heir.last, origin)
    raise ConflictError(f"{became} {heir.last}, which is forgotten: restore that one")


def _check_whole(connection: Connection, agent_id: str, node_id: int, origin: Origin) -> None:
    """Raise ``ConflictError`` where messages are missing, or what they told is remembered."""
    if not origin.complete:
        raise ConflictError(f"messages that node {node_id} was made of are erased")
    living = memory_telling(connection, agent_id, origin.seqs, origin.span)
    if living is not None:
        raise ConflictError(f"node {living} was made of the same, and is not forgotten")
