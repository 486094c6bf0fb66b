"""Bring an entity into the focus of an agent (M5)."""

from __future__ import annotations

from uuid import uuid4

from memci.broker.token import Tokens
from memci.domain.memory.entity import Entity, is_pronoun
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError, InvalidInputError
from memci.queue.submit import lock_agent, unlock_lane
from memci.shapes.agent import FocusList, FocusPoint
from memci.storage.mention import mention_entity
from memci.storage.parameters import parameters_of
from memci.storage.reading.nodes import list_focus
from memci.storage.session import Connection, Database


def run(
    database: Database, tokens: Tokens, agent_id: str, name: str, defaults: MemoryParameters
) -> FocusList:
    """Make it the newest focus point, and return the list, the latest mention first.

    Raises as ``bring_into_focus``, and ``NotFoundError`` for no agent.
    """
    with database.agent_transaction(agent_id) as connection:
        woken = lock_agent(connection, agent_id)
        points = bring_into_focus(connection, agent_id, name, defaults)
        unlock_lane(connection, agent_id, woken=woken)
    if not woken:  # a worker that looked while the lane was locked has gone again
        tokens.wake_lane(agent_id)
    return points


def bring_into_focus(
    connection: Connection, agent_id: str, name: str, defaults: MemoryParameters
) -> FocusList:
    """Do it in a transaction in which the lane is locked.

    Raises ``InvalidInputError`` for a pronoun, and ``ConflictError`` when nothing can enter the
    focus.
    """
    entity = Entity.named(name)
    if not entity.key or is_pronoun(name):
        raise InvalidInputError("expected the name of a thing; a pronoun is none", field="entity")
    parameters = parameters_of(connection, agent_id, defaults)
    if not parameters.focus_limit:
        raise ConflictError("this agent has no focus: its focus_limit is 0")
    if not mention_entity(connection, agent_id, entity, parameters, uuid4()):
        raise ConflictError(
            "every slot of the memory is taken by what may not give way: raise node_capacity"
        )
    points = list_focus(connection, agent_id)
    return FocusList(focus=[FocusPoint(**row) for row in points])
