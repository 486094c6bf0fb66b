"""What there is to choose from when a message list is assembled (R13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeAlias

from memci.domain.context.candidate import Candidate
from memci.domain.context.fusion import Ranked
from memci.domain.context.gist import Spans, whole
from memci.domain.context.interaction import Interaction
from memci.domain.context.listing import Listed
from memci.domain.context.parts import Origin, Section
from memci.domain.context.shown import Shown
from memci.domain.language import Language
from memci.domain.message import Message
from memci.domain.pages.pin import Pin

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
