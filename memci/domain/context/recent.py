"""Recent interactions, in the roles that spoke them."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.context.budget import Count, Utterance, message_tokens
from memci.domain.context.candidate import Candidate, message_candidate
from memci.domain.context.interaction import Interaction
from memci.domain.context.parts import Item, Part, Section


class Recent:
    """The newest interactions, taken without a gap; whole, or else without their tool calls."""

    def __init__(self, window: Sequence[Interaction], count: Count) -> None:
        """Begin with none of ``window`` (oldest first) taken."""
        self._left = list(window)
        self._taken: list[Interaction] = []
        self._count = count
        self.tokens = 0

    @property
    def said(self) -> list[Candidate]:
        """The messages that are taken."""
        return [message_candidate(each) for taken in self._taken for each in taken.messages]

    @property
    def left_out(self) -> tuple[Interaction, ...]:
        """Interactions that are not taken, oldest first."""
        return tuple(self._left)

    def take_current(self, room: int) -> None:
        """Take the last interaction if it still waits for its answer."""
        if self._left and not self._left[-1].answered:
            self._take_last(room)

    def take(self, room: int) -> int:
        """Take as many more as fit, the newest first; return their tokens."""
        used = 0
        while self._left and (tokens := self._take_last(room - used)):
            used += tokens
        return used

    def parts(self) -> tuple[Part, ...]:
        """Return what is taken as messages of the list, in order."""
        return tuple(
            Part(said, (Item(Section.RECENT, said.text, said.tokens(self._count), (each.seq,)),))
            for taken in self._taken
            for each in taken.messages
            for said in (Utterance.of(each),)
        )

    def _take_last(self, room: int) -> int:
        for form in (self._left[-1], self._left[-1].without_tools()):
            tokens = message_tokens(form.messages, self._count)
            if form.units and tokens <= room:
                self._left.pop()
                self._taken.insert(0, form)
                self.tokens += tokens
                return tokens
        return 0
