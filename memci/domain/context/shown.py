"""What the caller shows the model beside the list: none of it comes a second time (R14)."""

from __future__ import annotations

from collections.abc import Iterable

from memci.domain.context.candidate import Candidate, Source
from memci.domain.context.interaction import Interaction, Unit
from memci.domain.context.repetition import plain
from memci.domain.message import Message, Role


class Shown:
    """Messages that a model is shown by others, told by their role and their words."""

    def __init__(self, messages: Iterable[tuple[Role, str]] = ()) -> None:
        """Take them as (role, content); what is empty shows nothing."""
        self._known = frozenset((role, words) for role, text in messages if (words := plain(text)))

    def __bool__(self) -> bool:
        return bool(self._known)

    def has(self, candidate: Candidate) -> bool:
        """Tell whether it is a message that is shown."""
        if not self._known or candidate.source is not Source.CHAT or candidate.role is None:
            return False
        return (candidate.role, plain(candidate.text)) in self._known

    def without(self, window: Iterable[Interaction]) -> list[Interaction]:
        """Return what is left of interactions; a tool call goes when all its results are shown."""
        if not self._known:
            return list(window)
        left = (
            Interaction(tuple(unit for unit in each.units if not self._has_unit(unit)))
            for each in window
        )
        return [each for each in left if each.units]

    def _has_unit(self, unit: Unit) -> bool:
        said = unit[1:] if unit[0].tool_calls else unit
        return all(map(self._has_message, said))

    def _has_message(self, message: Message) -> bool:
        return (message.role, plain(message.content or "")) in self._known
