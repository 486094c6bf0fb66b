"""Consolidates, ends a session, moves the focus and restores a forgotten memory (R5, M5, M24)."""

from uuid import uuid4

from memci.broker.wakeup import Wakeups
from memci.commands.audit import changing
from memci.domain.memory.node import NodeKind, RemovalReason
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import details_of
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from memci.language.names import Entity, is_pronoun
from memci.language.redaction import Redactor, kinds_of
from memci.queue.job_requests import request_consolidation, request_restore
from memci.queue.mailbox import lock_agent, unlock_lane
from memci.schemas.agents import FocusList, FocusPoint
from memci.schemas.network_editions import RestoreAnswer
from memci.schemas.sessions import ConsolidateAnswer, SessionEndAnswer
from memci.storage.agents import parameters_of
from memci.storage.network import node_history as history
from memci.storage.network.links import list_focus
from memci.storage.network.node_history import Origin
from memci.storage.network.passes import mention_entity
from memci.storage.session import Connection, Database
from memci.storage.sessions import end_session as sessions_end_session
from memci.storage.summaries import open_session


def consolidate(database: Database, wakeups: Wakeups, agent_id: str) -> ConsolidateAnswer:
    """Request a consolidation; waiting requests count as one. Raises ``NotFoundError``."""
    with database.lane_transaction() as connection:
        requested = request_consolidation(connection, agent_id)
    if requested.woken:
        wakeups.wake_lane(agent_id)
    return ConsolidateAnswer(job_id=requested.job_id, coalesced=requested.coalesced)


def end_session(
    database: Database, wakeups: Wakeups, agent_id: str, session_id: str
) -> SessionEndAnswer:
    """End a session up to its last message; idempotent. Raises ``NotFoundError`` for no session."""
    with database.agent_transaction(agent_id) as connection:
        requested = request_consolidation(connection, agent_id)
        ended = sessions_end_session(connection, agent_id, session_id)
        if ended is None:
            raise NotFoundError("there is no such session: one exists from its first message on")
        open_session(connection, agent_id, session_id)
    if requested.woken:
        wakeups.wake_lane(agent_id)
    seq, ended_at = ended
    return SessionEndAnswer(
        session_id=session_id, seq=seq, ended_at=ended_at, job_id=requested.job_id
    )


def mention_in_focus(
    database: Database, wakeups: Wakeups, agent_id: str, name: str, defaults: MemoryParameters
) -> FocusList:
    """Make a thing the newest focus point; return the focus. Raises as ``add_to_focus``."""
    with database.agent_transaction(agent_id) as connection:
        woken = lock_agent(connection, agent_id)
        points = add_to_focus(connection, agent_id, name, defaults)
        unlock_lane(connection, agent_id, woken=woken)
    if not woken:  # a worker that found the lane locked has given up
        wakeups.wake_lane(agent_id)
    return points


def add_to_focus(
    connection: Connection, agent_id: str, name: str, defaults: MemoryParameters
) -> FocusList:
    """Make a thing the newest focus point, in a transaction with the lane locked.

    Raises ``InvalidInputError`` for a pronoun, and ``ConflictError`` when nothing can enter the
    focus.
    """
    parameters = parameters_of(connection, agent_id, defaults)
    entity = Entity.named(Redactor(kinds_of(parameters.redact)).text(name))
    if not entity.key or is_pronoun(name):
        raise InvalidInputError("expected the name of a thing; a pronoun is none", field="entity")
    if not parameters.focus_limit:
        raise ConflictError("this agent has no focus: its focus_limit is 0")
    if not mention_entity(connection, agent_id, entity, parameters, uuid4()):
        raise ConflictError(
            "every slot of the memory is taken by what may not give way: raise node_capacity"
        )
    points = list_focus(connection, agent_id)
    return FocusList(focus=[FocusPoint(**row) for row in points])


def restore_memory(
    database: Database, wakeups: Wakeups, agent_id: str, node_id: int
) -> RestoreAnswer:
    """Queue the restoration of a memory; a repeated request changes nothing.

    Raises ``NotFoundError`` for no such node or agent, and ``ConflictError`` when there is nothing
    to restore, or nothing to restore it from.
    """
    with (
        changing(database, "restore_node", agent_id, node_id),
        database.agent_transaction(agent_id) as connection,
    ):
        woken = lock_agent(connection, agent_id)
        origin = history.origin_of(connection, agent_id, node_id)
        if origin is None:
            raise NotFoundError("there never was such a node")
        before = history.last_restored(connection, agent_id, node_id)
        if before is not None and before.lives:
            unlock_lane(connection, agent_id, woken=woken)
            return RestoreAnswer(job_id=before.job_id, node_id=node_id, restored_as=before.node_id)
        _check(connection, agent_id, node_id, origin)
        payload = {"node": node_id, "seqs": origin.seqs, **details_of(origin.passages)}
        job_id = request_restore(connection, agent_id, payload)
    # A worker that found the lane locked has given up.
    wakeups.wake_lane(agent_id)
    return RestoreAnswer(job_id=job_id, node_id=node_id, restored_as=None)


def _check(connection: Connection, agent_id: str, node_id: int, origin: Origin) -> None:
    """Raise ``ConflictError`` if there is nothing to restore."""
    if origin.lives:
        raise ConflictError(f"node {node_id} is not forgotten: there is nothing to restore")
    if origin.kind is NodeKind.ENTITY:
        raise ConflictError(
            f"node {node_id} was an entity: mention it by its name, and it is in the focus again"
        )
    successor = history.successors_of(connection, agent_id, [node_id])[node_id]
    if successor.last != node_id:
        _refuse_replaced(connection, agent_id, node_id, successor)
    reason = history.removal_reasons(connection, agent_id, [node_id])[node_id]
    if reason in {RemovalReason.DELETED, RemovalReason.CORRECTED}:
        raise ConflictError(f"node {node_id} was {reason}: add what holds as a new memory")
    if reason is RemovalReason.ERASED:
        raise ConflictError(
            f"node {node_id} was erased with messages that it was made of: what is left of them "
            "was remembered again"
        )
    _check_complete(connection, agent_id, node_id, origin)


def _refuse_replaced(
    connection: Connection, agent_id: str, node_id: int, successor: history.Successor
) -> None:
    """Raise ``ConflictError`` for a node that another one replaced, living or not."""
    last = successor.last
    became = f"node {node_id} was {'merged into' if successor.merged else 'restored as'} node"
    if successor.living is not None:
        raise ConflictError(
            f"{became} {successor.living}, which lives: there is nothing to restore"
        )
    reason = history.removal_reasons(connection, agent_id, [last])[last]
    if reason is RemovalReason.ERASED:
        raise ConflictError(f"{became} {last}, which was erased")
    if reason in {RemovalReason.DELETED, RemovalReason.CORRECTED}:
        raise ConflictError(f"{became} {last}, which was {reason}: add what holds as a new memory")
    origin = history.origin_of(connection, agent_id, last)
    if origin is not None:
        _check_complete(connection, agent_id, last, origin)
    raise ConflictError(f"{became} {last}, which is forgotten: restore that one")


def _check_complete(connection: Connection, agent_id: str, node_id: int, origin: Origin) -> None:
    """Raise ``ConflictError`` if messages are missing, or another memory has the same ones."""
    if not origin.complete:
        raise ConflictError(f"messages that node {node_id} was made of are erased")
    living = history.memory_telling(connection, agent_id, origin.seqs, origin.span)
    if living is not None:
        raise ConflictError(f"node {living} was made of the same, and is not forgotten")
