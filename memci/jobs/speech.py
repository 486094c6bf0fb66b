"""Which part of a segment came from which message (M3), and the memory's text made of it (R4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from memci.domain.memory.wording import Part
from memci.domain.message import Message
from memci.smallmodel.ports import TopicSegment

_VISIBLE = re.compile(r"\S")


def parts_of(messages: Sequence[Message], cut: Sequence[TopicSegment]) -> list[list[Part]]:
    """Return what each segment holds of each message, in order.

    The segments hold every visible character of the messages once and in order (M3), so counting
    them tells whose they are.
    """
    supply = _Supply(messages)
    return [list(supply.taken_by(segment.text)) for segment in cut]


class _Supply:
    """Messages, and how many visible characters of the first are still to come."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = iter(messages)
        self._message: Message | None = None
        self._left = 0

    def taken_by(self, text: str) -> Iterator[Part]:
        start, wanted = 0, _visible(text)
        while wanted:
            if not self._left:
                self._message = next(self._messages)
                self._left = _visible(self._message.text)
                continue
            taken = min(wanted, self._left)
            end = len(text) if taken == wanted else _after(text, start, taken)
            if self._message is not None:
                yield Part(self._message, text[start:end].strip())
            start, wanted, self._left = end, wanted - taken, self._left - taken


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


def _after(text: str, start: int, visible: int) -> int:
    """Return the place behind so many visible characters."""
    last = next(islice(_VISIBLE.finditer(text, start), visible - 1, None))
    return last.end()
