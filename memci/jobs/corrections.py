"""Memories that an agent has corrected itself: its note takes their place (R6, R20)."""

from __future__ import annotations

from collections.abc import Mapping

from memci.domain.memory.creation import Creation
from memci.domain.memory.node import NodeKind
from memci.domain.memory.note import corrected_by
from memci.domain.message import Message
from memci.storage.origins import memory_telling
from memci.storage.passes import position
from memci.storage.session import Connection
from memci.storage.versions import supersede


def correct(
    connection: Connection, agent_id: str, creation: Creation, messages: Mapping[int, Message]
) -> int:
    """Let new memories of corrections supersede what these correct; return how many they do.

    What was forgotten or erased meanwhile is passed over. The lane must be locked.
    """
    done = 0
    _, pass_number = position(connection, agent_id)
    for seq, node_id in _first_of(creation).items():
        message = messages.get(seq)
        corrected = corrected_by(message.metadata) if message and message.is_note else None
        if message is None or corrected is None:
            continue
        older = memory_telling(connection, agent_id, corrected.seqs, corrected.span)
        if older is None or older == node_id:
            continue
        done += len(
            supersede(
                connection,
                agent_id,
                [older],
                by=node_id,
                until=message.said_at,
                pass_number=pass_number,
            )
        )
    return done


def _first_of(creation: Creation) -> dict[int, int]:
    """Return the first memory that was made of each message."""
    first: dict[int, int] = {}
    for node in creation.nodes:
        if node.kind is NodeKind.MEMORY:
            for seq in node.seqs:
                first.setdefault(seq, node.id)
    return first
