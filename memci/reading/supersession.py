"""What is found, with what supersedes it: what search and assembly give to a model (R6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.ranking import Ranked
from memci.domain.search.selection import Ended, Key, held_then, leaders_first
from memci.language.claims.reader import claims_in
from memci.language.times.ranges import TimeSpan
from memci.message import Message
from memci.reading.retrieval import restriction_of
from memci.schemas.reads import Scope
from memci.storage.reading.nodes import important_memories
from memci.storage.reading.superseded import ended_memories, messages_of
from memci.storage.session import Connection


def with_newer_beside(
    connection: Connection,
    agent_id: str,
    said: Iterable[Message],
    ranked: Sequence[Ranked],
    scope: Scope,
    asked: Sequence[TimeSpan] = (),
) -> list[Ranked]:
    """Do as ``with_newer``, and put first what is otherwise now than was ``said`` before it.

    What was said stands in a list as it was, in another session maybe: nothing can mark it there.
    """
    found = {each.key for each in ranked}
    best = ranked[0].score if ranked else 1.0
    shown = [
        Ranked(
            Candidate(Source.CHAT, each.seq, each.text, (each.seq,), each.said_at, name=each.name),
            best,
            {},
        )
        for each in said
    ]
    beside = [each for each in shown if each.key not in found]
    keys = {each.key for each in beside}
    whole = with_newer(connection, agent_id, [*beside, *ranked], scope, asked)
    return [each for each in whole if each.key not in keys]


def with_newer(
    connection: Connection,
    agent_id: str,
    ranked: Sequence[Ranked],
    scope: Scope,
    asked: Sequence[TimeSpan] = (),
) -> list[Ranked]:
    """Mark what no longer holds, and put what is so now before it, found or not.

    That is the newer memory, or where it is out of sight or forgotten the messages that it was
    made of, as far as the scope allows. ``asked``: the times that the question is about; what
    held then goes before what is so now.
    """
    nodes = [each.candidate.key for each in ranked if each.candidate.source is Source.MEMORY]
    seqs = [each.candidate.key for each in ranked if each.candidate.source is Source.CHAT]
    known = ended_memories(connection, agent_id, nodes, seqs, scope.as_of)
    if not known:
        return list(ranked)
    ended = {each.key: over for each in ranked if (over := _ended(each.candidate, known))}
    if not ended:
        return list(ranked)
    found = {each.key: each.candidate for each in ranked}
    told = _told(
        connection, agent_id, found, [one for over in ended.values() for one in over], scope
    )
    marked = [
        each._replace(candidate=_marked(each.candidate, ended[each.key], told, asked))
        if each.key in ended
        else each
        for each in ranked
    ]
    return leaders_first(marked, *_order(marked, ended, told, asked))


def _order(
    marked: Iterable[Ranked],
    ended: Mapping[Key, Sequence[Ended]],
    told: Mapping[int, Sequence[Candidate]],
    asked: Sequence[TimeSpan],
) -> tuple[dict[Key, list[Candidate]], dict[Key, list[Candidate]]]:
    """Return what goes before each, and what behind it: of all versions of what no longer holds."""
    found = {each.key: each.candidate for each in marked}
    leaders: defaultdict[Key, list[Candidate]] = defaultdict(list)
    followers: dict[Key, list[Candidate]] = {}
    for key, over in ended.items():
        newer = list(_ahead(key, over, found, told))
        if not held_then(found[key].at, over[0].until, asked):
            leaders[key] += newer
            continue
        followers[key] = newer
        for one in newer:
            leaders[one.source, one.key].insert(0, found[key])
    return leaders, followers


def _ended(candidate: Candidate, known: Iterable[Ended]) -> list[Ended]:
    """Return as which memories a candidate no longer holds, the first that ended first."""
    if candidate.source is Source.MEMORY:
        return [each for each in known if each.node_id == candidate.key]
    over = [each for each in known if candidate.key in each.seqs]
    attributes = _attributes(candidate) if over else set()
    over = [each for each in over if each.claims_in(candidate.key, attributes)]
    return sorted(over, key=lambda each: (each.until, each.node_id))


def _attributes(message: Candidate) -> set[str]:
    return {claim.attribute for claim in claims_in(message.text, message.name or "")}


def _told(
    connection: Connection,
    agent_id: str,
    found: Mapping[Key, Candidate],
    ended: Collection[Ended],
    scope: Scope,
) -> dict[int, list[Candidate]]:
    """Return what tells of each memory that holds now: itself, if in sight, and its messages."""
    restriction = restriction_of(scope)
    missing = {node for each in ended for node in each.now}
    told: defaultdict[int, list[Candidate]] = defaultdict(list)
    if Source.MEMORY in scope.sources:
        memories = [
            found[Source.MEMORY, node] for node in missing if (Source.MEMORY, node) in found
        ]
        unfound = sorted(missing - {each.key for each in memories})
        memories += important_memories(
            connection, agent_id, unfound, restriction, limit=len(unfound)
        )
        for each in memories:
            told[each.key].append(each)
    if Source.CHAT in scope.sources and not restriction.types:
        of = messages_of(connection, agent_id, sorted(missing), restriction)
        for node, messages in of.items():
            claimed = _claimed(node, messages, ended)
            if _still_tells(told[node], claimed):
                told[node] += [each for each in claimed if (each.source, each.key) in found]
            else:
                told[node] = claimed or told[node]
    return told


def _still_tells(memories: Sequence[Candidate], claimed: Iterable[Candidate]) -> bool:
    """Tell whether a memory is there and says yet what its messages claim: it may have faded."""
    said = {attribute for each in memories for attribute in _attributes(each)}
    return bool(memories) and all(said >= _attributes(each) for each in claimed)


def _claimed(node: int, messages: Sequence[Candidate], ended: Iterable[Ended]) -> list[Candidate]:
    """Return those of a memory's messages that say what is so now."""
    if len(messages) == 1:
        return list(messages)
    mine = [each for each in ended if node in each.now]
    changed = {about for each in mine for about in each.changed}
    exact = {seq for each in mine for seq, about in each.said.items() if about & (changed or about)}
    if exact:
        return [each for each in messages if each.key in exact]
    return [each for each in messages if _attributes(each)]


def _marked(
    candidate: Candidate,
    ended: Sequence[Ended],
    told: Mapping[int, Sequence[Candidate]],
    asked: Sequence[TimeSpan],
) -> Candidate:
    nodes = [node for each in ended for node in each.now]
    until = ended[0].until
    if held_then(candidate.at, until, asked):
        return candidate._replace(until=until, successor=next(iter(nodes), None))
    newer = [(one.source, one.key) for node in nodes for one in told.get(node, ())]
    return candidate._replace(
        until=until,
        successor=next(iter(nodes), None),
        newer=tuple(
            dict.fromkeys(key for key in newer if key != (candidate.source, candidate.key))
        ),
    )


def _ahead(
    key: Key,
    ended: Sequence[Ended],
    found: Mapping[Key, Candidate],
    told: Mapping[int, Sequence[Candidate]],
) -> Iterable[Candidate]:
    """Yield what goes before a candidate: what is so now, then what was between, if found."""
    for each in ended:
        for node in each.now:
            for one in told.get(node, ()):
                if (one.source, one.key) != key:
                    yield found.get((one.source, one.key), one)
        for node in each.between:
            if (Source.MEMORY, node) in found:
                yield found[Source.MEMORY, node]
