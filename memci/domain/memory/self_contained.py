"""Segments that can be read alone: who says it, and on which days (R4).

"I" and "我" are made plain by the speaker's name at the beginning of what each one says. Other
pronouns stay as they are: what they stand for is certain only where its name stands nearby, and
then the segment holds that name already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memci.domain.message import Message, Role
from memci.domain.time import with_absolute

# What a tool answers was written elsewhere, on another day.
_SPEAKING = (Role.USER, Role.ASSISTANT)


def self_contained(text: str, messages: Sequence[Message]) -> str:
    """Return a segment's text with the speakers' names and the dates that its words mean.

    ``messages`` are those that it was cut from, in order; the first and the last may lie in it in
    part (M3). Nothing of the text is changed or lost. Text that is not theirs is returned as it is.
    """
    return "".join(_plain(part, message) for part, message in _parts(text, messages))


def _plain(part: str, message: Message | None) -> str:
    if message is None or not part.strip():
        return part
    name = " ".join((message.name or "").split())
    dated = with_absolute(part, message.said_at) if message.role in _SPEAKING else part
    body = dated.lstrip()
    if not name or body.lower().startswith((f"{name.lower()}:", f"{name.lower()}：")):
        return dated
    return f"{dated[: len(dated) - len(body)]}{name}: {body}"


def _parts(text: str, messages: Sequence[Message]) -> Iterator[tuple[str, Message | None]]:
    """Divide the text among the messages; white space may differ from theirs."""
    lengths = [len("".join(message.text.split())) for message in messages]
    said = "".join("".join(message.text.split()) for message in messages)
    places = [place for place, character in enumerate(text) if not character.isspace()]
    skipped = _beginning(said, "".join(text.split()), lengths)
    if skipped is None:
        yield text, None
        return
    start, passed = 0, -skipped
    for message, length in zip(messages, lengths, strict=True):
        passed += length
        end = places[passed] if passed < len(places) else len(text)
        yield text[start:end], message
        start = end


def _beginning(said: str, text: str, lengths: Sequence[int]) -> int | None:
    """Return how much of the first message stands before the text; None: it is not theirs."""
    if not text or not lengths:
        return None
    # It ends in the last message, so it cannot begin earlier than this.
    at = said.find(text, max(0, len(said) - lengths[-1] - len(text) + 1))
    return at if 0 <= at < lengths[0] else None
