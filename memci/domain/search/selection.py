"""Selects from a ranking: newest first where memories supersede others, no small talk (R6, R14).

Unless a time is asked for at which the older one held: then it is the answer, and stands first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, TypeAlias

from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.duplicates import quotes, unsaid
from memci.domain.search.highlight import Speakers
from memci.domain.search.ranking import Ranked
from memci.language.small_talk import asks, can_answer, is_trivial, tells_much
from memci.language.times.ranges import TimeSpan

Key: TypeAlias = tuple[Source, int]
About: TypeAlias = tuple[str, str]  # subject and attribute of a claim (memory/claim.py)


@dataclass(frozen=True, slots=True)
class Ended:
    """A memory, living or forgotten, that does not hold since ``until``.

    ``seqs`` are its messages, and ``claims`` what they claim, by seq; a forgotten memory claims
    nothing. ``now``: the memories that say what is so now, the latest first, and ``between``: those
    that came before them and were superseded too. ``said``: what all of these claim, by seq.
    """

    node_id: int
    until: datetime
    seqs: frozenset[int]
    claims: Mapping[int, frozenset[About]]
    now: tuple[int, ...]
    between: tuple[int, ...]
    said: Mapping[int, frozenset[About]]

    @property
    def changed(self) -> frozenset[About]:
        """What is otherwise now; empty where nobody knows any more."""
        said = frozenset[About]().union(*self.said.values())
        if not self.claims:
            return said
        return said & frozenset[About]().union(*self.claims.values())

    def claims_in(self, seq: int, attributes: Collection[str]) -> bool:
        """Tell whether it is this message whose claim no longer holds.

        ``attributes``: what the words of the message are about, for a memory that is forgotten.
        """
        changed = self.changed
        if not changed.isdisjoint(self.said.get(seq, ())):
            return False  # it also says what is so now
        if self.claims:
            about = self.claims.get(seq, frozenset())
            return bool(about & changed if changed else about)
        if len(self.seqs) == 1 or not changed:
            return len(self.seqs) == 1 or bool(attributes)
        return not {attribute for _, attribute in changed}.isdisjoint(attributes)


def held_then(at: datetime, until: datetime, asked: Iterable[TimeSpan]) -> bool:
    """Tell whether what was so from ``at`` to ``until`` was so at the end of all times asked for.

    No time, or one that is not over yet, asks for what is so now.
    """
    named = [each.until for each in asked if not each.besides]
    return bool(named) and all(end is not None and at < end <= until for end in named)


def leaders_first(
    ranked: Sequence[Ranked],
    leaders: Mapping[Key, Sequence[Candidate]],
    followers: Mapping[Key, Sequence[Candidate]] | None = None,
) -> list[Ranked]:
    """Return a ranking in which nothing stands before what leads it, such as what supersedes it.

    ``leaders``: what that is, for each key, in order; leaders have leaders, too. ``followers``:
    what goes right behind a key. Neither need have been found. What moves up takes over the score;
    nothing moves down for it but by one, since a memory that is superseded in one thing may tell
    others that still hold.
    """
    found = {each.key: each for each in ranked}
    ordered: dict[Key, Ranked] = {}
    begun: set[Key] = set()

    def put(one: Ranked, score: float) -> None:
        if one.key in begun:  # two that lead each other keep their order
            return
        begun.add(one.key)
        for leader in leaders.get(one.key, ()):
            put(found.get((leader.source, leader.key)) or Ranked(leader, score, {}), score)
        ordered[one.key] = one._replace(score=max(one.score, score))
        for follower in (followers or {}).get(one.key, ()):
            if (follower.source, follower.key) not in found:
                put(Ranked(follower, score, {}), score)

    for each in ranked:
        put(each, each.score)
    return list(ordered.values())


def stands_alone(candidate: Candidate, kept: Collection[Key], missed: Collection[Key]) -> bool:
    """Tell whether what supersedes a candidate is not ``kept``, for want of room: ``missed``."""
    newer = set(candidate.newer)
    return not newer.isdisjoint(missed) and newer.isdisjoint(kept)


class Change(NamedTuple):
    """Memories that another message makes superfluous, and those it only makes shorter."""

    gone: list[Ranked]
    shorter: list[Ranked]


class Selection:
    """What is taken from a ranking: each message once, word for word before a memory of it (R14).

    ``held`` are messages that the reader has already. A message stays out while a memory that was
    taken holds its words. Of a memory only what its messages do not say themselves is worth the
    room; when there is nothing of that, it goes.
    """

    def __init__(self, held: Iterable[Candidate] = (), speakers: Speakers | None = None) -> None:
        """Begin with nothing taken; ``speakers``: all who may have spoken, if that is known."""
        self._speakers = speakers
        self._said = {each.key: each for each in held}
        self._taken: dict[Key, Ranked] = {}
        # Of each message, the memories of it that were taken.
        self._memories: defaultdict[int, dict[Key, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._taken)

    def __iter__(self) -> Iterator[Ranked]:
        """Iterate over what is taken, in the order of taking."""
        return iter(self._taken.values())

    def taken(self, key: Key) -> Ranked | None:
        """Return what is taken of one, at whatever length; None: it is not, or has gone."""
        return self._taken.get(key)

    def has(self, candidate: Candidate) -> bool:
        """Tell whether it is a message that is held or taken."""
        return candidate.source is Source.CHAT and candidate.key in self._said

    def new_in(self, candidate: Candidate) -> str | None:
        """Return what it says that is not there yet: None if nothing."""
        if candidate.source is Source.MEMORY:
            return self._unsaid(candidate)
        if candidate.key in self._said or self._quoted(candidate):
            return None
        return candidate.text

    def entry(self, ranked: Ranked) -> Ranked:
        """Return one that is taken with what is to be shown of it."""
        one = ranked.candidate
        if one.source is Source.CHAT:
            return ranked
        return ranked._replace(candidate=one._replace(text=self._unsaid(one) or ""))

    def take(self, ranked: Ranked) -> Change:
        """Take one that brings something new; tell what it changes about memories taken before.

        What was taken in short may be taken again as it was.
        """
        one = ranked.candidate
        self._taken[ranked.key] = ranked
        change = Change([], [])
        if one.source is Source.MEMORY:
            for seq in one.seqs:
                self._memories[seq][ranked.key] = None
            return change
        self._said[one.key] = one
        for memory in self._of(one):
            if self._unsaid(memory.candidate) is None:
                change.gone.append(self._taken.pop(memory.key))
            else:
                change.shorter.append(memory)
        return change

    def _quoted(self, message: Candidate) -> bool:
        return any(quotes(each.candidate.text, message.text) for each in self._of(message))

    def _of(self, message: Candidate) -> list[Ranked]:
        """Return the memories of a message that are taken."""
        memories = self._memories.get(message.key, ())
        return [self._taken[key] for key in memories if key in self._taken]

    def _unsaid(self, memory: Candidate) -> str | None:
        said = [self._said[seq] for seq in memory.seqs if seq in self._said]
        if memory.seqs and len(said) == len(memory.seqs):
            return None
        return unsaid(memory.text, said, self._speakers) or None if said else memory.text


def thin(ranked: Iterable[Ranked], limit: int) -> list[Ranked]:
    """Return the best ``limit`` of a ranking, each message once."""
    selection = Selection(speakers=Speakers())  # nothing of a memory is shown but all of it
    for each in ranked:
        if len(selection) >= limit:
            break
        if selection.new_in(each.candidate) is not None:
            selection.take(each)
    return list(selection)


class Filler:
    """The messages of a ranking that are courtesy, or name nothing in a few characters.

    One that may answer the question before it, found as well, is not among them. Each is looked at
    when it is asked for, since most of a ranking never comes into question.
    """

    def __init__(self, ranked: Iterable[Ranked], min_length: int) -> None:
        """Take a ranking; ``min_length``: characters, as for ``is_trivial``."""
        self._ranked = ranked
        self._min_length = min_length

    def has(self, ranked: Ranked) -> bool:
        """Tell whether one of the ranking is filler."""
        one = ranked.candidate
        return (
            one.source is Source.CHAT
            and one.key in self._said
            and not tells_much(one.text)
            and is_trivial(one.text, self._min_length, self._speakers)
            and not self._answers(one)
        )

    @cached_property
    def _said(self) -> dict[int, Candidate]:
        found = (each.candidate for each in self._ranked)
        return {one.key: one for one in found if one.source is Source.CHAT}

    @cached_property
    def _speakers(self) -> set[str]:
        return {one.name for one in self._said.values() if one.name}

    def _answers(self, one: Candidate) -> bool:
        question = self._said.get(one.key - 1)
        return question is not None and can_answer(one.text) and asks(question.text)
