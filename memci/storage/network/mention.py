"""An entity enters the focus because somebody says so (M5, M10)."""

from __future__ import annotations

from random import Random
from uuid import UUID

from sqlalchemy import Connection

from memci.domain.memory.creation import Ground, plan_mention
from memci.domain.memory.edition import ReplayEvent
from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import language_of
from memci.language.names import Entity
from memci.storage.network.editions import log_event
from memci.storage.network.links import focus_of, lock_links, replace_focus
from memci.storage.network.node_history import TrailEvent, append_history
from memci.storage.network.nodes import SlotNeed, add_nodes, entity_nodes, take_slots
from memci.storage.network.passes import position


def mention_entity(
    connection: Connection,
    agent_id: str,
    entity: Entity,
    parameters: MemoryParameters,
    mention_id: UUID,
) -> bool:
    """Make an entity the newest focus point, with a node if it has none; the lane must be locked.

    ``mention_id`` seeds the draw of who gives up a slot (M19). Where nobody may, an entity
    without a node stays out of the focus, and the answer is False.
    """
    last_node_id, pass_number = position(connection, agent_id)
    focus = focus_of(connection, agent_id)
    keys = {entity.key, *(each.key for each in focus)}
    entities = entity_nodes(connection, agent_id, keys)
    wanted = int(entity.key not in entities and parameters.focus_limit > 0)
    need = SlotNeed(wanted, parameters.node_capacity)
    slots = take_slots(connection, agent_id, need, pass_number, Random(mention_id.int)).slots
    ground = Ground(focus, entities, {}, {}, last_node_id, room=len(slots))
    creation = plan_mention(entity, ground, language_of(entity.name), parameters)
    lock_links(connection, agent_id, creation.entered)
    add_nodes(connection, agent_id, creation.nodes, slots, pass_number)
    replace_focus(connection, agent_id, creation.focus)
    origin = {"mention": str(mention_id), "messages": [], "kind": "entity"}
    trail = {node.id: origin for node in creation.nodes}
    append_history(connection, agent_id, TrailEvent.CREATED, pass_number, trail)
    details = {"entity": entity.name}
    log_event(connection, agent_id, ReplayEvent.MENTIONED, mention_id, details=details)
    mentioned = creation.nodes[0].id if creation.nodes else entities.get(entity.key)
    return mentioned in creation.focus
