"""What holds now before what it supersedes, and nothing superseded without it (R6).

Unless a time is asked for at which the older one held: then it is the answer, and stands first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from memci.domain.context.candidate import Candidate, Source
from memci.domain.context.ranking import Ranked
from memci.language.times.ranges import Stretch

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


def held_then(at: datetime, until: datetime, asked: Iterable[Stretch]) -> bool:
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
