"""Puts newer memories before those that they supersede (R6).

If the question asks for a time at which the older memory was valid, the older one comes first.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from memci.domain.memory.changed_facts import EndedParts, with_notes, without_ended
from memci.domain.search.candidate import Candidate, Key, Source
from memci.domain.search.ranking import Ranked
from memci.language.sentences import clause_spans
from memci.language.times.ranges import TimeSpan

# The candidates that state each valid memory: the memory itself or its messages.
Statements: TypeAlias = Mapping[int, Sequence[Candidate]]


# Share of a message that may be left when what is no longer valid is left out: a greeting.
_MOST_LEFT = 0.3


@dataclass(frozen=True, slots=True)
class Ended:
    """A memory, living or forgotten, that is not valid since ``until``."""

    node_id: int
    until: datetime
    seqs: frozenset[int]  # its messages
    parts: frozenset[str]  # what holds no more, word for word; empty if it is not known
    now: tuple[int, ...]  # the valid memories, the latest first
    between: tuple[int, ...]  # earlier ones that were also superseded
    told_by: frozenset[int]  # the messages that tell so

    def is_told_in(self, message: Candidate) -> bool:
        """Return True if a message tells hardly anything but what is no longer valid.

        In a message that tells more, as others of its memories show, only the parts are marked.
        """
        if message.key not in self.seqs or message.key in self.told_by:
            return False
        if not self.parts:
            return len(self.seqs) == 1
        left = without_ended(message.text, self.parts)
        return left != message.text and len(left) <= _MOST_LEFT * len(message.text)


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
    ended = [each for each in known if each.is_told_in(candidate)]
    return sorted(ended, key=lambda each: (each.until, each.node_id))


def statements_of(
    node: int,
    memory: Candidate | None,
    messages: Sequence[Candidate],
    ended: Iterable[Ended],
    found: Collection[Key],
) -> list[Candidate]:
    """Return the candidates that state a valid memory.

    These are the memory itself and those of its messages that were found. If it is forgotten, or
    has faded so far that it does not tell what changed, its messages that tell so replace it.
    """
    told_by = {seq for each in ended if node in each.now for seq in each.told_by}
    telling = [each for each in messages if each.key in told_by] or list(messages)
    clauses = {each.text[slice(*span)] for each in telling for span in clause_spans(each.text)}
    if memory and (not clauses or any(part in memory.text for part in clauses)):
        return [memory, *(each for each in telling if each.id in found)]
    return telling


def partly_ended(candidate: Candidate, known: Iterable[EndedParts]) -> Candidate:
    """Return a candidate with a note behind each part that holds no more.

    Nothing is noted of one that is superseded as a whole.
    """
    if candidate.until is not None:
        return candidate
    own = [each for each in known if not each.seqs.isdisjoint(candidate.seqs)]
    if not own:
        return candidate
    return candidate._replace(text=with_notes(candidate.text, candidate.seqs, own))


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
            leaders[one.id].insert(0, found[key])
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
        newer = {one.id: None for node in nodes for one in statements.get(node, ())}
        newer.pop(candidate.id, None)
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
                if one.id != key:
                    yield found.get(one.id, one)
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
            put(found.get(leader.id) or Ranked(leader, score, {}), score)
        ordered[one.key] = one._replace(score=max(one.score, score))
        for follower in (followers or {}).get(one.key, ()):
            if follower.id not in found:
                put(Ranked(follower, score, {}), score)

    for each in ranked:
        put(each, each.score)
    return list(ordered.values())


def lacks_newer(candidate: Candidate, chosen: Collection[Key], no_room: Collection[Key]) -> bool:
    """Return True if the successors of a candidate had no room, and none was chosen."""
    newer = set(candidate.newer)
    return not newer.isdisjoint(no_room) and newer.isdisjoint(chosen)
