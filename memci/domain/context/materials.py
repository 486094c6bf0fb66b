"""The materials of a context: candidates, messages, pins, plan, summary, pages (R13)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeAlias

from memci.domain.context.message_list import Origin, Section
from memci.domain.context.page_listing import Listed
from memci.domain.pages.pins import Pin
from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.duplicates import TrivialMessages, plain
from memci.domain.search.highlight import Spans, whole
from memci.domain.search.ranking import Ranked
from memci.domain.session.interaction import Interaction, Unit
from memci.language.detection import Language
from memci.message import Message, Role


class ShownMessages:
    """Messages that the caller shows the model itself, identified by role and text."""

    def __init__(self, messages: Iterable[tuple[Role, str]] = ()) -> None:
        """Take (role, content) pairs; empty contents are ignored."""
        self._known = frozenset((role, words) for role, text in messages if (words := plain(text)))

    def __bool__(self) -> bool:
        return bool(self._known)

    def has(self, candidate: Candidate) -> bool:
        """Return True if a candidate is a shown message."""
        if not self._known or candidate.source is not Source.CHAT or candidate.role is None:
            return False
        return (candidate.role, plain(candidate.text)) in self._known

    def without(self, window: Iterable[Interaction]) -> list[Interaction]:
        """Return interactions without shown messages; also without calls whose results all are."""
        if not self._known:
            return list(window)
        left = (
            Interaction(tuple(unit for unit in each.units if not self._has_unit(unit)))
            for each in window
        )
        return [each for each in left if each.units]

    def _has_unit(self, unit: Unit) -> bool:
        messages = unit[1:] if unit[0].tool_calls else unit
        return all((each.role, plain(each.content or "")) in self._known for each in messages)


# Returns True if a candidate is trivial; called only for those that would be taken.
IsTrivial: TypeAlias = Callable[[Ranked], bool]


class Covered(NamedTuple):
    """The messages that a summary covers: those of a session from one seq through another."""

    session_id: str | None
    from_seq: int
    through_seq: int

    def holds(self, message: Message | Candidate, seq: int) -> bool:
        """Return True if the summary covers a message."""
        same = message.session_id == self.session_id
        return same and self.from_seq <= seq <= self.through_seq


@dataclass(frozen=True, slots=True)
class Materials:
    """The materials of a context."""

    system: str | None
    query: str | None
    # The latest interactions, oldest first: twice the number that may go in, and one.
    window: Sequence[Interaction]
    recent: int  # the largest number of interactions, unless the list grows
    ranked: Sequence[Ranked]  # retrieved candidates, best first
    language: Language
    pins: Sequence[Pin] = ()
    plan: str | None = None
    finished: Collection[int] = ()  # seqs of finished steps of the plan; they come last (R15)
    summary: str | None = None  # of earlier messages (R8)
    covered: Covered | None = None  # the messages of the summary, if known
    contents: Listed | None = None  # the Contents Page
    tree: Listed | None = None  # other pages
    origins: Mapping[Section, Origin] = field(default_factory=dict)  # of plan and summary (R16)
    shown: ShownMessages = field(default_factory=ShownMessages)
    is_trivial: IsTrivial = TrivialMessages().has
    spans: Spans = whole  # cuts sentences
    began: int | None = None  # the seq of the last list's first recent message
    # Up to one fewer than three times ``recent`` interactions may go in, from ``began``.
    grows: bool = False
    reaches_back: bool = True  # the window was not cut because it has too many messages
    preserve: int = 4  # recent interactions that are dropped last (R15)
    best_first: bool = False  # no prompt cache is used
    today: date | None = None  # the day on which the list is read; None: that of its beginning
