"""The messages of a job by conversation, and what each conversation had come to before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from memci.domain.pages.tree import Viewer
from memci.message import Message, Role
from memci.storage.messages import Earlier, said_before
from memci.storage.search_index import Embedded, message_vectors
from memci.storage.session import Connection
from memci.storage.summaries import read_summary

# Session and user: no topic segment spans two of either. The seq of a note, which was said to
# nobody and stands alone; 0 for all else.
Conversation: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Background:
    """The messages of a job by conversation, each in their order, and what was said before.

    ``earlier`` is what came before the first message of each, with vectors by seq; ``summaries``
    tell what their sessions were about so far, where that was summed up (R3).
    """

    conversations: Mapping[Conversation, Sequence[Message]]
    earlier: Mapping[Conversation, Sequence[Earlier]]
    embedded: Embedded
    summaries: Mapping[Conversation, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        connection: Connection,
        agent_id: str,
        messages: Iterable[Message],
        reach: int,
        model: str,
        *,
        together: bool = False,
    ) -> Background:
        """Read at most ``reach`` messages before each conversation, and none before a note.

        ``together``: a memory was made of all of them, of notes among them, too.
        """
        groups = conversations(messages, together=together)
        firsts = {place: group[0] for place, group in groups.items() if not group[0].is_note}
        said = said_before(connection, agent_id, firsts.values(), reach)
        earlier: dict[Conversation, list[Earlier]] = {place: [] for place in groups}
        for place, first in firsts.items():
            earlier[place] = [each for each in said[first.seq] if tells(each.message)]
        seqs = [each.message.seq for group in earlier.values() for each in group]
        embedded = Embedded(*message_vectors(connection, agent_id, seqs, model), model)
        return cls(groups, earlier, embedded, _summaries(connection, agent_id, groups))


def _summaries(
    connection: Connection, agent_id: str, places: Iterable[Conversation]
) -> dict[Conversation, str]:
    """Return what is summed up of these conversations' sessions in sight of their users."""
    found: dict[Conversation, str] = {}
    for place in places:
        session, user, _ = place
        viewer = Viewer(session or None, user or None)
        summary = read_summary(connection, agent_id, session or None, viewer)
        if summary is not None:
            found[place] = summary.text
    return found


def tells(message: Message) -> bool:
    """Tell whether a message can become a memory: it has text and is no system prompt.

    A system prompt says what an agent is to be; it is not a memory of what happened.
    """
    return message.role is not Role.SYSTEM and bool(message.text.strip())


def conversations(
    messages: Iterable[Message], *, together: bool = False
) -> dict[Conversation, list[Message]]:
    """Return the messages that can become memories by conversation, each in their order.

    A note is one by itself, unless what was told in one memory is taken ``together``.
    """

    def conversation(message: Message) -> Conversation:
        alone = message.is_note and not together
        return message.session_id or "", message.user_id or "", message.seq if alone else 0

    told = sorted(filter(tells, messages), key=conversation)
    return {key: list(group) for key, group in groupby(told, key=conversation)}
