"""Finds the messages of a resent conversation that are not stored yet.

Chat clients send the whole conversation, or its end, with every request. Stored messages are
recognised by their content, so that nothing is stored twice.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from hashlib import sha256

from memci.message import Message, NewMessage

_PREFIX = "chat-"
# Characters of a digest: 128 bits.
_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Placed:
    """The sent messages, each with its id, and the indexes of the new ones."""

    messages: tuple[NewMessage, ...]
    new: frozenset[int]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all sent messages."""
        return frozenset(each.id for each in self.messages if each.id is not None)

    @property
    def last_id(self) -> str:
        """The id on which the next message's id depends; empty before the first."""
        return (self.messages[-1].id or "") if self.messages else ""


def place(sent: Sequence[NewMessage], stored: Sequence[Message], session_id: str) -> Placed:
    """Match sent messages with the stored end of a session, and give the others ids.

    A message's id depends on the previous id and on its content: a request that is sent twice
    stores nothing twice, and erased messages are recognised. A client that sends one message alone
    sends a new one, unless the last stored message is the same and has no answer yet.
    """
    known = _known(sent, stored)
    messages: list[NewMessage] = []
    before = stored[-1].id if stored and len(sent) == 1 else ""
    for at, message in enumerate(sent):
        before = known.get(at) or id_after(before, message, session_id)
        messages.append(replace(message, id=before))
    return Placed(tuple(messages), frozenset(range(len(sent))) - known.keys())


def id_after(before: str, message: NewMessage, session_id: str) -> str:
    """Return the id of a message whose predecessor has the id ``before``."""
    fields = {
        "session": session_id,
        "before": before,
        "role": message.role,
        "content": message.content,
        "name": message.name,
        "tool_calls": [dict(each) for each in message.tool_calls],
        "tool_call_id": message.tool_call_id,
    }
    digest = sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    return _PREFIX + digest[:_DIGITS]


def session_of(begins: str, user_id: str | None) -> str:
    """Return the session of a conversation without one: by its user and its beginning."""
    owner = f"{len(user_id or '')}:{user_id or ''}:"
    return _PREFIX + sha256((owner + begins.strip()).encode()).hexdigest()[:16]


def _known(sent: Sequence[NewMessage], stored: Sequence[Message]) -> dict[int, str]:
    """Return the ids of stored messages by their index in ``sent``."""
    if len(sent) == 1:
        stored = stored[-1:]
    matcher = SequenceMatcher(
        None,
        [_comparison_key(each) for each in sent],
        [_comparison_key(each) for each in stored],
        autojunk=False,
    )
    return {
        block.a + step: stored[block.b + step].id
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }


def _comparison_key(message: Message | NewMessage) -> tuple[object, ...]:
    calls = tuple(
        (call.get("function", {}).get("name"), call.get("function", {}).get("arguments"))
        for call in message.tool_calls
    )
    return message.role, (message.content or "").strip(), calls, message.tool_call_id
