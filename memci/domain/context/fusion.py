"""One ranking out of several channels (R11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

from memci.domain.context.candidate import WRITTEN, Candidate, Channel, Source
from memci.domain.context.timed import Timed

# Cormack, Clarke and Büttcher 2009: how much less the first ranks count than their number says.
RRF_K = 60
# What reads the raw score of a channel.
_SCORES: Mapping[Channel, Callable[[Candidate], float | None]] = {
    Channel.DENSE: attrgetter("dense"),
    Channel.LEXICAL: attrgetter("lexical"),
    Channel.BFS: attrgetter("linked"),
}
_BY_SCORE = itemgetter(0, 1)
# What leads because of its time goes before what each channel has first.
_LEAD = (len(Channel) + 1) / (RRF_K + 1)
# A cosine below it says nothing: such a hit needs another channel to be one.
DENSE_FLOOR = 0.1
# Nor does one of a file below this: it was not said in any conversation that the question goes on.
_WRITTEN_FLOOR = 0.2


class Ranked(NamedTuple):
    """A candidate with its fused score and its rank, from 1, in each channel that found it."""

    candidate: Candidate
    score: float
    ranks: Mapping[Channel, int]

    @property
    def key(self) -> tuple[Source, int]:
        """What names its candidate."""
        return self.candidate.source, self.candidate.key


def fuse_rrf(
    candidates: Sequence[Candidate], channels: Collection[Channel], timed: Timed | None = None
) -> list[Ranked]:
    """Fuse by reciprocal ranks, best first.

    Cosines of messages and memories are ranked together, and so is what links lead to; BM25 scores
    of two indexes cannot be compared, so each source has a lexical ranking of its own. Among equals
    a message goes before a memory, and the later before the earlier. What only its time has found
    (``timed``) comes last, unless it leads.
    """
    ranks, timed = channel_ranks(candidates, channels), timed or Timed()
    fused = [
        Ranked(each, _reciprocal(found) + (_LEAD if timed.leads(each) else 0.0), found)
        for each in candidates
        if (found := ranks.get((each.source, each.key), {})) or timed.has(each)
    ]
    return sorted(fused, key=by_rank)


def _reciprocal(ranks: Mapping[Channel, int]) -> float:
    return sum(1 / (RRF_K + rank) for rank in ranks.values())


def channel_ranks(
    candidates: Sequence[Candidate], channels: Collection[Channel]
) -> dict[tuple[Source, int], dict[Channel, int]]:
    """Return the rank of each candidate, from 1, in each channel that found it."""
    ranks: defaultdict[tuple[Source, int], dict[Channel, int]] = defaultdict(dict)
    for channel in channels:
        for ranking in _rankings(candidates, channel):
            for rank, each in enumerate(ranking, start=1):
                ranks[each.source, each.key][channel] = rank
    return dict(ranks)


def by_rank(ranked: Ranked) -> tuple[float, bool, int]:
    """Order best first; among equals a message before a memory, the later before the earlier."""
    return -ranked.score, ranked.candidate.source is Source.MEMORY, -ranked.candidate.key


def best_of(rankings: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """Return one ranking of several: each candidate at the best score that it has in any."""
    if len(rankings) == 1:
        return list(rankings[0])
    best: dict[tuple[Source, int], Ranked] = {}
    for each in (each for ranking in rankings for each in ranking):
        if each.key not in best or each.score > best[each.key].score:
            best[each.key] = each
    return sorted(best.values(), key=by_rank)


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
        return [_by_score([each for each in candidates if _is_near(each)], channel, DENSE_FLOOR)]
    if channel is Channel.BFS:
        return [_by_score(candidates, channel, 0.0)]
    own: defaultdict[Source, list[Candidate]] = defaultdict(list)
    for each in candidates:
        own[each.source].append(each)
    return [_by_score(each, channel, 0.0) for each in own.values()]


def _is_near(candidate: Candidate) -> bool:
    if candidate.source not in WRITTEN or candidate.dense is None:
        return True
    return candidate.dense > _WRITTEN_FLOOR


def _by_score(candidates: Iterable[Candidate], channel: Channel, floor: float) -> list[Candidate]:
    """Return candidates with a score above ``floor``, the best first, of equals the latest."""
    score = _SCORES[channel]
    above = [
        (found, each.key, each)
        for each in candidates
        if (found := score(each)) is not None and found > floor
    ]
    return [each for _, _, each in sorted(above, key=_BY_SCORE, reverse=True)]
