"""Answers that are not recorded yet: what goes on from one waits until it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import anyio

from memci.domain.message import Role
from memci.http.proxy.asked import Asked

# An answer is recorded in milliseconds; one that takes longer is then recorded as it was sent anew.
_WAIT_S = 1


@dataclass(slots=True)
class UnderWay:
    """The chats of this process whose answers pass, or are being recorded.

    A client that does not wait for the end of an answer may send it back before it is recorded.
    Recorded then, it would be without what memci knows of it: which model said it, and whether it
    was cut.
    """

    _chats: list[tuple[Asked, anyio.Event]] = field(default_factory=list)

    @contextmanager
    def chat(self, asked: Asked) -> Iterator[None]:
        """Have the chat among those under way, until its answer is recorded."""
        entry = (asked, anyio.Event())
        self._chats.append(entry)
        try:
            yield
        finally:
            self._chats = [each for each in self._chats if each is not entry]
            entry[1].set()

    async def settled(self, asked: Asked) -> None:
        """Wait, for a moment, for the answers that the request goes on from."""
        awaited = [done for earlier, done in self._chats if _answers(asked, earlier)]
        with anyio.move_on_after(_WAIT_S):
            for done in awaited:
                await done.wait()


def _answers(asked: Asked, earlier: Asked) -> bool:
    """Tell whether a request holds an answer to an earlier one of its session."""
    whose = (earlier.agent_id, earlier.session_id)
    if not earlier.said or whose != (asked.agent_id, asked.session_id):
        return False
    last = earlier.said[-1]
    return any(
        (one.role, one.content) == (last.role, last.content) and other.role is Role.ASSISTANT
        for one, other in pairwise(asked.said)
    )
