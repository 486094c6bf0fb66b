"""Rankings of candidates: which are hits of a channel, and how rankings are joined (R11)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

from memci.domain.search.candidate import SAID, WRITTEN, Candidate, Channel, Key, Source
from memci.domain.search.hints import ASKING, TimeFit
from memci.language.question.intent import Order

# The least likeness of files, which no conversation has mentioned.
_WRITTEN_FLOOR = 0.2


class Ranked(NamedTuple):
    """A candidate with its fused score and its rank, from 1, in each channel that found it."""

    candidate: Candidate
    score: float
    ranks: Mapping[Channel, int]

    @property
    def key(self) -> Key:
        """The key of its candidate."""
        return self.candidate.id


def channel_ranks(
    candidates: Sequence[Candidate], channels: Collection[Channel], floor: float
) -> dict[Key, dict[Channel, int]]:
    """Return the rank of each candidate, from 1, in each channel that found it.

    A candidate whose vector has a likeness below ``floor`` is a hit only by another channel.
    """
    ranks: defaultdict[Key, dict[Channel, int]] = defaultdict(dict)
    for channel in channels:
        for ranking in _rankings(candidates, channel, floor):
            for rank, each in enumerate(ranking, start=1):
                ranks[each.id][channel] = rank
    return dict(ranks)


def by_rank(ranked: Ranked) -> tuple[float, bool, int]:
    """Order best first; among equals a message before a memory, the later before the earlier."""
    return -ranked.score, ranked.candidate.source is Source.MEMORY, -ranked.candidate.key


def best_of_rankings(rankings: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """Return one ranking of several: each candidate with its best score."""
    if len(rankings) == 1:
        return list(rankings[0])
    best: dict[Key, Ranked] = {}
    for each in (each for ranking in rankings for each in ranking):
        if each.key not in best or each.score > best[each.key].score:
            best[each.key] = each
    return sorted(best.values(), key=by_rank)


def best_of_each_source(ranked: Iterable[Ranked], k: int) -> list[Ranked]:
    """Return the best ``k`` of each source."""
    counts: Counter[Source] = Counter()
    best = []
    for each in ranked:
        counts[each.candidate.source] += 1
        if counts[each.candidate.source] <= k:
            best.append(each)
    return best


def _rankings(
    candidates: Sequence[Candidate], channel: Channel, floor: float
) -> list[list[Candidate]]:
    if channel is Channel.DENSE:
        near = (each for each in candidates if _is_near(each))
        return [_by_score(near, attrgetter("dense"), floor)]
    if channel is Channel.BFS:
        return [_by_score(candidates, attrgetter("linked"), 0.0)]
    own: defaultdict[Source, list[Candidate]] = defaultdict(list)
    for each in candidates:
        own[each.source].append(each)
    return [_by_score(each, attrgetter("lexical"), 0.0) for each in own.values()]


def _is_near(candidate: Candidate) -> bool:
    if candidate.source not in WRITTEN or candidate.dense is None:
        return True
    return candidate.dense > _WRITTEN_FLOOR


def _by_score(
    candidates: Iterable[Candidate], score: Callable[[Candidate], float | None], floor: float
) -> list[Candidate]:
    """Return candidates with a score above ``floor``, best first, the latest of equals first."""
    above = [
        (found, each.key, each)
        for each in candidates
        if (found := score(each)) is not None and found > floor
    ]
    return [each for _, _, each in sorted(above, key=itemgetter(0, 1), reverse=True)]


# Candidates that come less near to the best of each channel are off topic.
_ALIKE = 0.55
# The gain of the first (or last) day if it scores like the best; further days gain less.
_GAIN = 1.0
_FADE = 0.7


def favour_order(
    found: list[Ranked],
    closeness: Mapping[Key, float],
    order: Order | None,
    time_fit: TimeFit | None,
) -> list[Ranked]:
    """Return candidates, unsorted, with better scores for the first or the last occasion.

    Days count, not messages: all messages of a day are about one occasion. Questions are about
    none. If the question asks for no order, the same list object is returned. ``closeness``: how
    near each candidate comes to the best of each channel, 0 to 1.
    """
    best = max((closeness[each.key] for each in found), default=0.0)
    if order is None or best <= 0:
        return found
    least = _ALIKE * best
    near = [
        each
        for each in found
        if closeness[each.key] > least and _is_occasion(each.candidate, time_fit)
    ]
    days = sorted({each.candidate.at.date() for each in near}, reverse=order is Order.LATEST)
    gains = {day: _GAIN * _FADE**place for place, day in enumerate(days)}
    gained = {
        each.key: (closeness[each.key] - least) / (best - least) * gains[each.candidate.at.date()]
        for each in near
    }
    return [
        Ranked(each.candidate, each.score + gained.get(each.key, 0.0), each.ranks) for each in found
    ]


def _is_occasion(found: Candidate, time_fit: TimeFit | None) -> bool:
    if found.source not in SAID or found.text.rstrip().endswith(ASKING):
        return False
    return time_fit is None or time_fit(found.at, found.session_id) >= 1
