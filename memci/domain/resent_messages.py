"""Which messages of a conversation that is sent anew are not stored yet.

Chat clients send the whole conversation with every request, or the end of it. What is stored is
found in what is sent by what was said, so that nothing is stored twice.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from hashlib import sha256

from memci.message import Message, NewMessage

_PREFIX = "chat-"
# What a digest is cut to: 128 bits.
_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Placed:
    """The messages that were sent, each with its id, and the places of those that are new."""

    messages: tuple[NewMessage, ...]
    new: frozenset[int]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all that was sent."""
        return frozenset(each.id for each in self.messages if each.id is not None)

    @property
    def last_id(self) -> str:
        """The id that the next message's goes on from; none, before the first."""
        return (self.messages[-1].id or "") if self.messages else ""


def place(sent: Sequence[NewMessage], stored: Sequence[Message], session_id: str) -> Placed:
    """Find in the stored end of a session what was sent, and give the others ids.

    A message's id follows from the id of the one before it and from what it says: a request that
    is sent twice stores nothing twice, and what was erased is known again. A client that sends
    one message alone says it for the first time, unless nobody has answered it yet.
    """
    known = _known(sent, stored)
    messages: list[NewMessage] = []
    before = stored[-1].id if stored and len(sent) == 1 else ""
    for at, message in enumerate(sent):
        before = known.get(at) or id_after(before, message, session_id)
        messages.append(replace(message, id=before))
    return Placed(tuple(messages), frozenset(range(len(sent))) - known.keys())


def id_after(before: str, message: NewMessage, session_id: str) -> str:
    """Return the id of a message that follows the one of id ``before``."""
    said = {
        "session": session_id,
        "before": before,
        "role": message.role,
        "content": message.content,
        "name": message.name,
        "tool_calls": [dict(each) for each in message.tool_calls],
        "tool_call_id": message.tool_call_id,
    }
    digest = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return _PREFIX + digest[:_DIGITS]


def session_of(begins: str, user_id: str | None) -> str:
    """Return the session of a conversation that names none: by its user, and how it begins."""
    whose = f"{len(user_id or '')}:{user_id or ''}:"
    return _PREFIX + sha256((whose + begins.strip()).encode()).hexdigest()[:16]


def _known(sent: Sequence[NewMessage], stored: Sequence[Message]) -> dict[int, str]:
    """Return by places in ``sent`` the ids of those that are stored."""
    if len(sent) == 1:
        stored = stored[-1:]
    matcher = SequenceMatcher(
        None, [_said(each) for each in sent], [_said(each) for each in stored], autojunk=False
    )
    return {
        block.a + step: stored[block.b + step].id
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }


def _said(message: Message | NewMessage) -> tuple[object, ...]:
    """Return what makes two messages the same here: clients trim white space."""
    calls = tuple(
        (call.get("function", {}).get("name"), call.get("function", {}).get("arguments"))
        for call in message.tool_calls
    )
    return message.role, (message.content or "").strip(), calls, message.tool_call_id
