"""One ranking out of several channels (R11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memci.domain.context.candidate import Candidate, Channel, Source

# Cormack, Clarke and Büttcher 2009: how much less the first ranks count than their number says.
RRF_K = 60
# A cosine below it says nothing: such a hit needs another channel to be one.
DENSE_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its fused score and its rank, from 1, in each channel that found it."""

    candidate: Candidate
    score: float
    ranks: Mapping[Channel, int]


def fuse_rrf(candidates: Sequence[Candidate], channels: Collection[Channel]) -> list[Ranked]:
    """Fuse by reciprocal ranks, best first.

    Cosines of messages and memories are ranked together; BM25 scores of two indexes cannot be
    compared, so each source has a lexical ranking of its own. Among equals a message goes before
    a memory, and the later before the earlier.
    """
    ranks: defaultdict[tuple[Source, int], dict[Channel, int]] = defaultdict(dict)
    for channel in channels:
        for ranking in _rankings(candidates, channel):
            for rank, each in enumerate(ranking, start=1):
                ranks[each.source, each.key][channel] = rank
    fused = [
        Ranked(each, sum(1 / (RRF_K + rank) for rank in found.values()), found)
        for each in candidates
        if (found := ranks.get((each.source, each.key)))
    ]
    return sorted(fused, key=_order)


class Selection:
    """What is taken from a ranking: each message once, word for word before a memory of it (R14).

    ``held`` are seqs of messages that the reader has already. A message stays out while a memory
    that was taken holds its words; a memory goes when all its messages are there themselves.
    """

    def __init__(self, held: Iterable[int] = ()) -> None:
        """Begin with nothing taken."""
        self._present = set(held)
        self._taken: dict[tuple[Source, int], Ranked] = {}
        self._memories: defaultdict[int, list[Candidate]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._taken)

    def __iter__(self) -> Iterator[Ranked]:
        """Iterate over what is taken, in the order of taking."""
        return iter(self._taken.values())

    def admits(self, candidate: Candidate) -> bool:
        """Tell whether it brings something that is not there yet."""
        if candidate.source is Source.MEMORY:
            return not candidate.seqs or not self._present.issuperset(candidate.seqs)
        quoted = (candidate.text in each.text for each in self._memories[candidate.key])
        return candidate.key not in self._present and not any(quoted)

    def take(self, ranked: Ranked) -> list[Ranked]:
        """Take one that is admitted; return the memories that go because of it."""
        one = ranked.candidate
        self._taken[one.source, one.key] = ranked
        if one.source is Source.MEMORY:
            for seq in one.seqs:
                self._memories[seq].append(one)
            return []
        self._present.add(one.key)
        return [
            gone
            for memory in self._memories.pop(one.key, [])
            if self._present.issuperset(memory.seqs)
            and (gone := self._taken.pop((memory.source, memory.key), None))
        ]


def thin(ranked: Iterable[Ranked], limit: int) -> list[Ranked]:
    """Return the best ``limit`` of a ranking, each message once."""
    selection = Selection()
    for each in ranked:
        if len(selection) >= limit:
            break
        if selection.admits(each.candidate):
            selection.take(each)
    return list(selection)


def at_most(ranked: Iterable[Ranked], k: int | None) -> list[Ranked]:
    """Return what is left when each source offers its best ``k`` only (None: all)."""
    offered: Counter[Source] = Counter()
    kept = []
    for each in ranked:
        offered[each.candidate.source] += 1
        if k is None or offered[each.candidate.source] <= k:
            kept.append(each)
    return kept


def _rankings(candidates: Sequence[Candidate], channel: Channel) -> list[list[Candidate]]:
    if channel is Channel.DENSE:
        return [_by_score(candidates, channel, DENSE_FLOOR)]
    own = ([each for each in candidates if each.source is source] for source in Source)
    return [_by_score(each, channel, 0.0) for each in own]


def _by_score(candidates: Iterable[Candidate], channel: Channel, floor: float) -> list[Candidate]:
    """Return candidates with a score above ``floor``, the best first, of equals the latest."""
    scored = [(score, each) for each in candidates if (score := each.score(channel)) is not None]
    above = [(score, each) for score, each in scored if score > floor]
    return [each for _, each in sorted(above, key=lambda pair: (-pair[0], -pair[1].key))]


def _order(ranked: Ranked) -> tuple[float, bool, int]:
    return -ranked.score, ranked.candidate.source is Source.MEMORY, -ranked.candidate.key
