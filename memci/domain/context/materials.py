"""What a context is assembled from: candidates, messages, pins, plan, summary, budget (R13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeAlias

from memci.domain.context.message_list import Origin, Section
from memci.domain.context.page_listing import Listed
from memci.domain.pages.pins import Pin
from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.duplicates import plain
from memci.domain.search.highlight import Spans, whole
from memci.domain.search.ranking import Ranked
from memci.domain.session.interaction import Interaction, Unit
from memci.language.detection import Language
from memci.message import Message, Role


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


# Tells whether something found says nothing; asked only of what would be taken.
IsTrivial: TypeAlias = Callable[[Ranked], bool]


def _tells(_: Ranked) -> bool:
    return False


class Covered(NamedTuple):
    """What a summary tells of: the messages of a session from a seq through another."""

    session_id: str | None
    from_seq: int
    through_seq: int

    def holds(self, message: Message | Candidate, seq: int) -> bool:
        """Tell whether a message, found or not, is one of them."""
        same = message.session_id == self.session_id
        return same and self.from_seq <= seq <= self.through_seq


@dataclass(frozen=True, slots=True)
class Materials:
    """What there is to choose from.

    ``window``: the latest interactions, oldest first, so many more than may go in as there are to
    be recent, and one; it ``reaches_back`` so far unless there are too many messages. Of these
    ``recent`` go in at most, and up to one fewer than three times as many while the list ``grows``
    from ``began``, the seq that the last list's recent interactions began with. ``preserve``: so
    many of them give way last (R15).

    ``ranked``: what was retrieved, best first; ``is_trivial`` tells what of it says nothing, and
    ``spans`` where its sentences are. ``shown``: what the caller shows by itself.

    ``pins``, ``plan``: always in. ``finished``: messages of finished plan steps, which give way
    before others (R15). ``summary``: what was said before, in brief (R8); ``covered``: of which
    messages it tells, if that is known. ``contents`` and ``tree``: pages of the page tree.
    ``origins``: what plan and summary are taken from (R16). ``best_first``: no prompt cache is
    used. ``today``: the day on which the list is read; None: that of what it begins with.
    """

    system: str | None
    query: str | None
    window: Sequence[Interaction]
    recent: int
    ranked: Sequence[Ranked]
    language: Language
    pins: Sequence[Pin] = ()
    plan: str | None = None
    finished: Collection[int] = ()
    summary: str | None = None
    covered: Covered | None = None
    contents: Listed | None = None
    tree: Listed | None = None
    origins: Mapping[Section, Origin] = field(default_factory=dict)
    shown: Shown = field(default_factory=Shown)
    is_trivial: IsTrivial = _tells
    spans: Spans = whole
    began: int | None = None
    grows: bool = False
    reaches_back: bool = True
    preserve: int = 4
    best_first: bool = False
    today: date | None = None
