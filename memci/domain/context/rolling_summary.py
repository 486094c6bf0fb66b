"""How a summary rolls on over a session, a piece at a time (R8)."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.context.token_budget import Count, message_tokens
from memci.message import Message, Role


def piece_of(said: Sequence[Message], most_tokens: int, count: Count, *, more: bool) -> int:
    """Return how many of these messages (ascending seq) are summed up together.

    All, where they have at most ``most_tokens`` tokens and no ``more`` follow that belong to them;
    else as many as fit, at least one, and where that can be whole interactions.
    """
    taken = tokens = 0
    for message in said:
        tokens += message_tokens([message], count)
        if taken and tokens > most_tokens:
            break
        taken += 1
    if taken == len(said) and not more:
        return taken
    begins = [at for at in range(1, taken) if said[at].role is Role.USER]
    next_begins = taken < len(said) and said[taken].role is Role.USER
    return begins[-1] if begins and not next_begins else taken


def summed_up(said: Sequence[Message]) -> list[Message]:
    """Return those messages that a summary tells of: what was said, and what tools answered.

    Not what the system said, nor what an agent noted for its memory and said to nobody (R20).
    """
    return [
        message
        for message in said
        if message.role is not Role.SYSTEM and not message.is_note and message.text.strip()
    ]
