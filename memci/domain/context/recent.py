"""Recent interactions, in the roles that spoke them (R13, R15).

A provider's prompt cache reuses what a list begins with, so the first of them changes rarely: from
where the last list began more and more go in, until it is time to cut many of them off at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from memci.domain.context.brief import in_brief
from memci.domain.context.budget import Count, Utterance, message_tokens
from memci.domain.context.candidate import Candidate, message_candidate
from memci.domain.context.interaction import Interaction
from memci.domain.context.materials import Materials
from memci.domain.context.parts import Item, Part, Section

# When those since ``began`` no longer fit, so much of the room is filled anew: there is time to
# grow again before the next cut.
_REFILL = 0.7

_Counted: TypeAlias = tuple[Interaction, int]  # with its tokens


@dataclass(frozen=True, slots=True)
class Recent:
    """What goes in, in the form in which it does, and what does not; oldest first.

    ``older`` are more than may go in; of what may, ``no_room`` is left out.
    """

    taken: tuple[Interaction, ...] = ()
    older: tuple[Interaction, ...] = ()
    no_room: tuple[Interaction, ...] = ()
    tokens: int = 0

    @property
    def left_out(self) -> tuple[Interaction, ...]:
        """All that does not go in."""
        return *self.older, *self.no_room

    @property
    def said(self) -> list[Candidate]:
        """The messages that are taken."""
        return [message_candidate(each) for one in self.taken for each in one.messages]

    @property
    def begins(self) -> int | None:
        """The seq of the first message that is taken."""
        return self.taken[0].messages[0].seq if self.taken else None

    def parts(self, count: Count) -> tuple[Part, ...]:
        """Return what is taken as messages of the list, in order."""
        return tuple(
            Part(said, (Item(Section.RECENT, said.text, said.tokens(count), (each.seq,)),))
            for taken in self.taken
            for each in taken.messages
            for said in (Utterance.of(each),)
        )


class Latest:
    """The interactions of a window of which the newest go in, without a gap."""

    def __init__(self, window: Sequence[Interaction], materials: Materials, count: Count) -> None:
        """Take the window without the query, and how many of it may go in."""
        self._count = count
        self._began = materials.began
        self._preserve = materials.preserve
        self._wanted = _settled(window, materials)
        self._older = tuple(window[: len(window) - len(self._wanted)])

    def within(self, room: int, share: int) -> Recent:
        """Return what of it fits.

        The current interaction, which still waits for its answer, goes first: it may have all the
        ``room``; those that are over have their ``share``.
        """
        current = self._current(room)
        if self._waits and not current:
            return self._recent([])
        earlier = self._brief[: len(self._brief) - len(current)]
        free = min(share, room - sum(map(self._tokens, current)))
        return self._recent([*self._fitting(earlier, free), *current])

    @property
    def _waits(self) -> bool:
        return bool(self._wanted) and not self._wanted[-1].answered

    @cached_property
    def _brief(self) -> list[_Counted]:
        forms = map(in_brief, self._wanted)
        return [(each, self._tokens(each)) for each in forms]

    def _current(self, room: int) -> list[Interaction]:
        if not self._waits:
            return []
        last = self._wanted[-1]
        forms = (last, in_brief(last), last.without_tools())
        return next(([each] for each in forms if each.units and self._tokens(each) <= room), [])

    def _tokens(self, interaction: Interaction) -> int:
        return message_tokens(interaction.messages, self._count)

    def _fitting(self, earlier: Sequence[_Counted], room: int) -> list[Interaction]:
        """Return the newest that fit, all of those since ``began`` if they do."""
        most = self._newest(earlier, room)
        if len(most) == len(earlier):
            return most
        since = _since(earlier, self._began)
        tokens = sum(each for _, each in since)
        if tokens <= room <= 2 * tokens:
            return [each for each, _ in since]
        kept = min(len(most), self._preserve)
        return max(most[len(most) - kept :], self._newest(earlier, int(_REFILL * room)), key=len)

    def _newest(self, earlier: Sequence[_Counted], room: int) -> list[Interaction]:
        taken: list[Interaction] = []
        for form, tokens in reversed(earlier):
            if tokens > room:
                form = form.without_tools()  # noqa: PLW2901 - a smaller form of the same
                tokens = self._tokens(form)  # noqa: PLW2901
            if not form.units or tokens > room:
                break
            room -= tokens
            taken.insert(0, form)
        return taken

    def _recent(self, forms: Sequence[Interaction]) -> Recent:
        no_room = tuple(self._wanted[: len(self._wanted) - len(forms)])
        return Recent(tuple(forms), self._older, no_room, sum(map(self._tokens, forms)))


def _settled(window: Sequence[Interaction], materials: Materials) -> Sequence[Interaction]:
    """Return those that may go in: since where the last list began, or else the newest."""
    number = min(materials.recent, len(window))
    if materials.grows:
        starts = [each.messages[0].seq for each in window]
        since = len(window) - starts.index(materials.began) if materials.began in starts else 0
        if number <= since < 2 * materials.recent:
            number = since
    return window[len(window) - number :]


def _since(earlier: Sequence[_Counted], began: int | None) -> Sequence[_Counted]:
    starts = [each.messages[0].seq for each, _ in earlier]
    return earlier[starts.index(began) :] if began in starts else ()
