"""The messages of a job by conversation, and what each conversation had come to before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from memci.domain.message import Message, Role
from memci.storage.conversations import Earlier, said_before
from memci.storage.index import Embedded, message_vectors
from memci.storage.session import Connection

# Session and user: no topic segment spans two of either.
Conversation: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Background:
    """What was said before the first message of each conversation, with vectors by seq."""

    earlier: Mapping[Conversation, Sequence[Earlier]]
    embedded: Embedded

    @classmethod
    def read(
        cls,
        connection: Connection,
        agent_id: str,
        messages: Iterable[Message],
        reach: int,
        model: str,
    ) -> Background:
        """Read at most ``reach`` messages of each conversation."""
        firsts = {place: group[0] for place, group in conversations(messages).items()}
        said = said_before(connection, agent_id, firsts.values(), reach)
        earlier = {
            place: [each for each in said[first.seq] if tells(each.message)]
            for place, first in firsts.items()
        }
        seqs = [each.message.seq for group in earlier.values() for each in group]
        embedded = Embedded(*message_vectors(connection, agent_id, seqs, model), model)
        return cls(earlier, embedded)


def tells(message: Message) -> bool:
    """Tell whether a message can become a memory: it has text and is no system prompt.

    A system prompt says what an agent is to be; it is not a memory of what happened.
    """
    return message.role is not Role.SYSTEM and bool(message.text.strip())


def conversations(messages: Iterable[Message]) -> dict[Conversation, list[Message]]:
    """Return the messages that can become memories by conversation, each in their order."""
    told = sorted(filter(tells, messages), key=_conversation)
    return {key: list(group) for key, group in groupby(told, key=_conversation)}


def _conversation(message: Message) -> Conversation:
    return message.session_id or "", message.user_id or ""
