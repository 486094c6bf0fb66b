"""Finds older memories that new ones contradict or correct (R6, R20)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from memci.domain.memory.creation import Creation, NewNode
from memci.domain.memory.node import NodeKind
from memci.language.claims.claim import Claim, StoredClaim, resolve_correction
from memci.language.claims.reader import claims_in
from memci.message import Message, Role, corrected_memory
from memci.storage.network.beliefs import add_claims, claims_since, supersede, supersede_older
from memci.storage.network.node_history import memory_telling
from memci.storage.network.passes import position
from memci.storage.session import Connection


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
        corrected = corrected_memory(message.metadata) if message and message.is_note else None
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


# A correction ("Monday, not Friday") is about something said so many messages ago at most.
_CORRECTABLE = 100


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Claims of messages, by seq, in the order of each text."""

    messages: Mapping[int, Message]
    claims: Mapping[int, Sequence[Claim]]

    @classmethod
    def read(cls, messages: Collection[Message]) -> Self:
        """Read what people assert, and what the agent noted itself.

        What else a nameless assistant says is no belief, nor what a tool does.
        """
        told = {message.seq: message for message in messages if _is_told(message)}
        claims = {seq: claims_in(each.text, speaker_of(each)) for seq, each in told.items()}
        return cls(told, claims)

    def write(self, connection: Connection, agent_id: str, creation: Creation) -> int:
        """Write what the new memories claim; return how many older ones they supersede.

        The lane must be locked.
        """
        corrected = correct(connection, agent_id, creation, self.messages)
        made = list(self._held_by(creation.nodes))
        if not made:
            return corrected
        corrections = [held for held in made if held.claim.corrects]
        claims = [held for held in made if not held.claim.corrects]
        if corrections:
            first = min(held.seq for held in corrections)
            known = [*claims_since(connection, agent_id, first - _CORRECTABLE), *claims]
            claims += filter(None, (resolve_correction(held, known) for held in corrections))
        add_claims(connection, agent_id, claims)
        keys = {(held.claim.subject, held.claim.attribute) for held in claims}
        return corrected + len(supersede_older(connection, agent_id, keys))

    def _held_by(self, nodes: Sequence[NewNode]) -> Iterator[StoredClaim]:
        """Give each claim to the memory that holds its words, else to the first of its message."""
        memories: defaultdict[int, list[NewNode]] = defaultdict(list)
        for node in nodes:
            if node.kind is NodeKind.MEMORY:
                for seq in node.seqs:
                    memories[seq].append(node)
        for seq, held in memories.items():
            for claim in self.claims.get(seq, ()):
                words = _squeezed(claim.evidence)
                telling = (node for node in held if words in _squeezed(node.content))
                node = next(telling, held[0])
                yield StoredClaim(claim, node.id, seq, self.messages[seq].said_at)


def speaker_of(message: Message) -> str:
    """Return the key that "I" stands for in a message: a name, a user, or whoever writes."""
    if message.name:
        return message.name
    if message.is_note:
        return "agent:"
    return f"user:{message.user_id}" if message.user_id else "user:"


def _is_told(message: Message) -> bool:
    if not message.text.strip() or message.role in {Role.SYSTEM, Role.TOOL}:
        return False
    return message.role is Role.USER or bool(message.name) or message.is_note


def _squeezed(text: str) -> str:
    return "".join(text.split())
