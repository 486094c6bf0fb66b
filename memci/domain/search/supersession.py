"""Puts newer memories before those that they supersede (R6).

If the question asks for a time at which the older memory was valid, the older one comes first.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from memci.domain.search.candidate import Candidate, Key, Source
from memci.domain.search.ranking import Ranked
from memci.language.claims.reader import claims_in
from memci.language.times.ranges import TimeSpan

About: TypeAlias = tuple[str, str]  # subject and attribute of a claim (language/claims)
# The candidates that state each valid memory: the memory itself or its messages.
Statements: TypeAlias = Mapping[int, Sequence[Candidate]]


@dataclass(frozen=True, slots=True)
class Ended:
    """A memory, living or forgotten, that is not valid since ``until``."""

    node_id: int
    until: datetime
    seqs: frozenset[int]  # its messages
    claims: Mapping[int, frozenset[About]]  # by seq; empty for a forgotten memory
    now: tuple[int, ...]  # the valid memories, the latest first
    between: tuple[int, ...]  # earlier ones that were also superseded
    newer_claims: Mapping[int, frozenset[About]]  # of ``now`` and ``between``, by seq

    @property
    def changed(self) -> frozenset[About]:
        """The changed attributes; empty if they are no longer known."""
        newer = frozenset[About]().union(*self.newer_claims.values())
        return newer & frozenset[About]().union(*self.claims.values()) if self.claims else newer

    def claims_in(self, seq: int, attributes: Collection[str]) -> bool:
        """Return True if this message contains the claim that is no longer valid.

        ``attributes``: the topics of the message's words; used for a forgotten memory.
        """
        changed = self.changed
        if not changed.isdisjoint(self.newer_claims.get(seq, ())):
            return False  # it also states the current fact
        if self.claims:
            about = self.claims.get(seq, frozenset())
            return bool(about & changed if changed else about)
        if len(self.seqs) == 1 or not changed:
            return len(self.seqs) == 1 or bool(attributes)
        return not {attribute for _, attribute in changed}.isdisjoint(attributes)


def was_valid_at(since: datetime, until: datetime, times: Iterable[TimeSpan]) -> bool:
    """Return True if a fact from ``since`` to ``until`` was valid at the end of all these times.

    False without a time, or with one that is not over yet.
    """
    ends = [each.until for each in times if not each.besides]
    return bool(ends) and all(end is not None and since < end <= until for end in ends)


def ended_candidates(
    ranked: Iterable[Ranked], known: Sequence[Ended]
) -> dict[Key, Sequence[Ended]]:
    """Return the candidates that are no longer valid with their memories, the first ended first."""
    return {each.key: ended for each in ranked if (ended := _ended_as(each.candidate, known))}


def _ended_as(candidate: Candidate, known: Iterable[Ended]) -> list[Ended]:
    if candidate.source is Source.MEMORY:
        return [each for each in known if each.node_id == candidate.key]
    ended = [each for each in known if candidate.key in each.seqs]
    attributes = _attributes(candidate) if ended else set()
    ended = [each for each in ended if each.claims_in(candidate.key, attributes)]
    return sorted(ended, key=lambda each: (each.until, each.node_id))


def _attributes(message: Candidate) -> set[str]:
    return {claim.attribute for claim in claims_in(message.text, message.name or "")}


def statements_of(
    node: int,
    memories: Sequence[Candidate],
    messages: Sequence[Candidate],
    ended: Iterable[Ended],
    found: Collection[Key],
) -> list[Candidate]:
    """Return the candidates that state a valid memory.

    These are the memory itself and those of its messages that were found, if the memory still
    contains their claims. If it has faded, the messages replace it.
    """
    claiming = _claiming_messages(node, messages, ended)
    claimed = {attribute for each in memories for attribute in _attributes(each)}
    if memories and all(claimed >= _attributes(each) for each in claiming):
        return [*memories, *(each for each in claiming if (each.source, each.key) in found)]
    return claiming or list(memories)


def _claiming_messages(
    node: int, messages: Sequence[Candidate], ended: Iterable[Ended]
) -> list[Candidate]:
    if len(messages) == 1:
        return list(messages)
    replaced = [each for each in ended if node in each.now]
    changed = {about for each in replaced for about in each.changed}
    claiming = {
        seq
        for each in replaced
        for seq, about in each.newer_claims.items()
        if about & (changed or about)
    }
    if claiming:
        return [each for each in messages if each.key in claiming]
    return [each for each in messages if _attributes(each)]


def newest_first(
    ranked: Sequence[Ranked],
    ended: Mapping[Key, Sequence[Ended]],
    statements: Statements,
    times: Sequence[TimeSpan],
) -> list[Ranked]:
    """Mark the superseded candidates, and put the current statements before them, found or not.

    ``times``: those in the question; facts valid then precede the current ones.
    """
    marked = [
        each._replace(candidate=_with_successor(each.candidate, ended[each.key], statements, times))
        if each.key in ended
        else each
        for each in ranked
    ]
    found = {each.key: each.candidate for each in marked}
    leaders: defaultdict[Key, list[Candidate]] = defaultdict(list)
    followers: dict[Key, list[Candidate]] = {}
    for key, versions in ended.items():
        newer = list(_newer_versions(key, versions, found, statements))
        if not was_valid_at(found[key].at, versions[0].until, times):
            leaders[key] += newer
            continue
        followers[key] = newer
        for one in newer:
            leaders[one.source, one.key].insert(0, found[key])
    return leaders_first(marked, leaders, followers)


def _with_successor(
    candidate: Candidate,
    ended: Sequence[Ended],
    statements: Statements,
    times: Sequence[TimeSpan],
) -> Candidate:
    nodes = [node for each in ended for node in each.now]
    until = ended[0].until
    newer: dict[Key, None] = {}
    if not was_valid_at(candidate.at, until, times):
        newer = {(one.source, one.key): None for node in nodes for one in statements.get(node, ())}
        newer.pop((candidate.source, candidate.key), None)
    successor = next(iter(nodes), None)
    return candidate._replace(until=until, successor=successor, newer=tuple(newer))


def _newer_versions(
    key: Key,
    ended: Sequence[Ended],
    found: Mapping[Key, Candidate],
    statements: Statements,
) -> Iterable[Candidate]:
    """Yield the candidates that precede one: current ones, then found intermediate ones."""
    for each in ended:
        for node in each.now:
            for one in statements.get(node, ()):
                if (one.source, one.key) != key:
                    yield found.get((one.source, one.key), one)
        for node in each.between:
            if (Source.MEMORY, node) in found:
                yield found[Source.MEMORY, node]


def leaders_first(
    ranked: Sequence[Ranked],
    leaders: Mapping[Key, Sequence[Candidate]],
    followers: Mapping[Key, Sequence[Candidate]] | None = None,
) -> list[Ranked]:
    """Return a ranking in which no key precedes its leaders; leaders can have leaders.

    ``followers`` go right behind a key. Neither need have been found. A moved candidate takes over
    the score. No candidate moves down by more than one place, since a memory that is superseded in
    one fact may state others that are still valid.
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


def lacks_newer(candidate: Candidate, chosen: Collection[Key], no_room: Collection[Key]) -> bool:
    """Return True if the successors of a candidate had no room, and none was chosen."""
    newer = set(candidate.newer)
    return not newer.isdisjoint(no_room) and newer.isdisjoint(chosen)
