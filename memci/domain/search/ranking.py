"""Combines the scores of several channels, and hints from the question, into one ranking (R11).

Scores are scaled to 0..1 and summed by weight: a weak channel cannot drag a strong one as it does
where only ranks count. Then come priors and bonuses, each measured alone
(retrieval-and-assembly.md, "What is known to work").
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeAlias

from memci.domain.documents import is_named
from memci.domain.search.candidate import KEPT, SAID, WRITTEN, Candidate, Channel, Source, Timed
from memci.language.names import entities_named
from memci.language.question import AnswerKind, Order, QueryAnalysis

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


def best_of_rankings(rankings: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """Return one ranking of several: each candidate at the best score that it has in any."""
    if len(rankings) == 1:
        return list(rankings[0])
    best: dict[tuple[Source, int], Ranked] = {}
    for each in (each for ranking in rankings for each in ranking):
        if each.key not in best or each.score > best[each.key].score:
            best[each.key] = each
    return sorted(best.values(), key=by_rank)


def best_of_each_source(ranked: Iterable[Ranked], k: int | None) -> list[Ranked]:
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


# How well what was said at a time, in a session, fits those that a question names: 0 to 1.
Fits: TypeAlias = Callable[[datetime, str | None], float]

# What scores less than so much of the best is of something else.
_ALIKE = 0.55
# What the outermost day gains, if it fits as well as the best; each further one gains less.
_GAIN = 1.0
_FADE = 0.7
_ASKING = ("?", "\uff1f")


def in_order(found: list[Ranked], order: Order | None, fits: Fits | None) -> list[Ranked]:
    """Return what was found with better scores for what is outermost in time, unsorted.

    Days count, not messages: a conversation about the occasion is one. Who asks tells of none, and
    of a time that is named it is one inside. Where no order is asked for it is what was given.
    """
    best = max((each.score for each in found), default=0.0)
    if order is None or best <= 0:
        return found
    least = _ALIKE * best
    near = [each for each in found if each.score > least and _tells(each.candidate, fits)]
    days = sorted({_day(each) for each in near}, reverse=order is Order.LATEST)
    gains = {day: _GAIN * _FADE**place for place, day in enumerate(days)}
    gained = {each.key: (each.score - least) / (best - least) * gains[_day(each)] for each in near}
    return [
        Ranked(each.candidate, each.score + gained.get(each.key, 0.0), each.ranks) for each in found
    ]


def _tells(found: Candidate, fits: Fits | None) -> bool:
    """Tell whether it may be one of the occasions."""
    if found.source not in SAID or found.text.rstrip().endswith(_ASKING):
        return False
    return fits is None or fits(found.at, found.session_id) >= 1


def _day(found: Ranked) -> date:
    return found.candidate.at.date()


_CHANNELS = {Channel.DENSE: 0.6, Channel.LEXICAL: 0.4}
_LINKED = 0.05
_SESSION = 0.3
_SPEAKER = 0.2
_TIME = 0.5
# More than all that anything of another time can have.
_LEAD_OF_KEPT = 2.0
# Where a question has no words to go by, those that it shares with a text count for little, and
# whether the text says anything for more.
_FAINT = 0.3
_TELLS = 0.5
_SAYS = 4  # words
_LITTLE = 0.01
_ENTITY = 0.1
_NAMED = 0.6
_TYPED = 0.05
_LENGTH = 0.2
_ASKS = 0.1
# What is so long in words is as good as any longer; and of a session, so many count.
_LONG = math.log(60)
_BEST_OF_SESSION = 3
# The best so many are read for what the question names: reading is slow, and adds little.
_READ = 120

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff]")

_TIMES = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|week|weekend|month|year|night|morning|"
    r"recently|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|"
    r"july|august|september|october|november|december|\d{4}|\d+(?:st|nd|rd|th))\b"
    r"|[昨今明前后去]天|[昨今明]晚|[上下这本]个?(?:周|月|星期|礼拜)|[去今明前]年|\d\s*[年月日号点]",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few)\b"
    r"|[一二两三四五六七八九十百千几][个次年月天岁元块只位条本]",
    re.IGNORECASE,
)


class Wanted(StrEnum):
    """What kind of thing a question asks for."""

    TIME = "time"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Hints:
    """What a question says of its answer beside its words.

    ``speakers`` are those whom it names; ``fits`` tells how well what was said fits the times that
    it names, ``holds`` how much of what it names a text holds, both 0..1; ``names`` whether it
    names a symbol of code. ``timed``: what is a hit by its time. ``order``: which occasion is
    wanted.
    """

    speakers: frozenset[str] = frozenset()
    fits: Fits | None = None
    holds: Callable[[str], float] | None = None
    names: Callable[[str], bool] | None = None
    wanted: Wanted | None = None
    timed: Timed = field(default_factory=Timed)
    order: Order | None = None


def fuse_scaled(
    candidates: Sequence[Candidate], channels: Collection[Channel], hints: Hints
) -> list[Ranked]:
    """Fuse by scaled scores, best first; what a channel has found, or its time or name, is ranked.

    What only its time has found comes after the rest of its time, unless the time leads.
    """
    ranks = channel_ranks(candidates, channels)
    found = [
        each
        for each in candidates
        if (each.source, each.key) in ranks or _is_named(each, hints) or hints.timed.has(each)
    ]
    bases = _bases(found, [each for each in channels if each in _CHANNELS])
    links = max((each.linked or 0.0 for each in found), default=0.0)
    links = links if Channel.BFS in channels else 0.0
    sessions = _sessions(found, bases)
    fused = []
    for each, base in zip(found, bases, strict=True):
        own = ranks.get((each.source, each.key), {})
        score = base
        if each.source in SAID:
            score += _SESSION * sessions.get(each.session_id, 0.0)
        if links > 0 and each.linked:
            score += _LINKED * (each.linked / links)
        if hints.timed.leads(each):
            score = _leading(each, score, hints)
        elif own or not hints.timed.has(each):
            score += _told(each, hints)
        else:
            score = _of_its_time(each, hints)
        fused.append(Ranked(each, score, own))
    fused.sort(key=by_rank)
    ranking = in_order(_all_read(fused, hints), hints.order, hints.fits)
    return ranking if ranking is fused else sorted(ranking, key=by_rank)


def _all_read(fused: list[Ranked], hints: Hints) -> list[Ranked]:
    """Return a ranking, the best of it read for what the question names and asks for."""
    if hints.holds is None and hints.wanted is None:
        return fused
    read = [
        Ranked(each.candidate, each.score + _read(each.candidate.text, hints), each.ranks)
        for each in fused[:_READ]
    ]
    return [*read, *fused[_READ:]]


def _bases(found: Sequence[Candidate], channels: Collection[Channel]) -> list[float]:
    """Sum each candidate's scaled scores; what a channel cannot score counts by the others."""
    sums, weights = [0.0] * len(found), [0.0] * len(found)
    for channel in channels:
        weight = _CHANNELS[channel]
        for row, value in enumerate(_scaled(found, channel)):
            if value is not None:
                sums[row] += weight * value
                weights[row] += weight
    return [each / weight if weight else 0.0 for each, weight in zip(sums, weights, strict=True)]


def _scaled(found: Sequence[Candidate], channel: Channel) -> list[float | None]:
    if channel is Channel.DENSE:
        top = max((each.dense or 0.0 for each in found), default=0.0)
        return [
            None if each.dense is None else max(each.dense, 0.0) / top if top > 0 else 0.0
            for each in found
        ]
    # BM25 scores of two indexes cannot be compared.
    tops = dict.fromkeys(Source, 0.0)
    for each in found:
        if each.lexical is not None and each.lexical > tops[each.source]:
            tops[each.source] = each.lexical
    if tops[Source.CHAT] > 0:  # what is kept is scored as messages are
        tops.update(dict.fromkeys(KEPT, tops[Source.CHAT]))
    return [
        min((each.lexical or 0.0) / tops[each.source], 1.0) if tops[each.source] > 0 else None
        for each in found
    ]


def _sessions(found: Sequence[Candidate], bases: Sequence[float]) -> dict[str | None, float]:
    """Return, of each session, the mean of its best: a talk about the thing holds more of it."""
    own: defaultdict[str | None, list[float]] = defaultdict(list)
    for each, base in zip(found, bases, strict=True):
        if each.source is Source.CHAT:
            own[each.session_id].append(base)
    return {
        session: sum(sorted(values)[-_BEST_OF_SESSION:]) / _BEST_OF_SESSION
        for session, values in own.items()
    }


def _is_named(each: Candidate, hints: Hints) -> bool:
    if hints.names is None or each.extract is None:
        return False
    return each.extract.symbol is not None and hints.names(each.extract.symbol)


def _leading(each: Candidate, score: float, hints: Hints) -> float:
    """Score what goes before all else, by what it tells rather than by how it was found."""
    says = min(1.0, _words(each.text) / _SAYS)
    return _LEAD_OF_KEPT + _FAINT * score + _TELLS * says + _told(each, hints)


def _of_its_time(each: Candidate, hints: Hints) -> float:
    """Score what only its time has found: behind all of its time that anything else has found.

    Of equals the longer one tells more.
    """
    fit = hints.fits(each.at, each.session_id) if hints.fits is not None else 0.0
    return _TIME * fit - _ASKS + _LITTLE * _length(each.text)


def _told(each: Candidate, hints: Hints) -> float:
    """Return what a candidate gains by what is known of it without reading it."""
    bonus = _LENGTH * _length(each.text)
    if len(hints.speakers) == 1 and each.name in hints.speakers:
        bonus += _SPEAKER
    if hints.fits is not None and each.source in SAID:
        bonus += _TIME * hints.fits(each.at, each.session_id)
    if _is_named(each, hints):
        bonus += _NAMED
    if each.text.rstrip().endswith(_ASKING):
        bonus -= _ASKS
    return bonus


def _read(text: str, hints: Hints) -> float:
    """Return what a candidate gains by what its text holds."""
    bonus = 0.0
    if hints.holds is not None:
        bonus += _ENTITY * hints.holds(text)
    if _is_of_kind(text, hints.wanted):
        bonus += _TYPED
    return bonus


def _length(text: str) -> float:
    return min(1.0, math.log1p(_words(text)) / _LONG)


def _words(text: str) -> float:
    """Count words; two Han characters are about one."""
    if text.isascii():
        return text.count(" ") + 1
    han = len(_HAN.findall(text))
    return han / 2 if han else len(_WORD.findall(text))


def _is_of_kind(text: str, wanted: Wanted | None) -> bool:
    if wanted is Wanted.TIME:
        return _TIMES.search(text) is not None
    return wanted is Wanted.NUMBER and _NUMBERS.search(text) is not None


_WANTED = {AnswerKind.WHEN: Wanted.TIME, AnswerKind.HOW_MANY: Wanted.NUMBER}


def hints_of(
    analysis: QueryAnalysis, names: Collection[str] = (), timed: Timed | None = None
) -> Hints:
    """Return what raises a candidate: who speaks, when, of what, and which kind of answer.

    ``names`` are those of code that the question asks for; ``timed``: what is a hit by its time.
    """
    return Hints(
        speakers=analysis.speakers,
        fits=analysis.time_fit if analysis.times else None,
        holds=_share_of(analysis.entity_keys) if analysis.entity_keys else None,
        wanted=_WANTED.get(analysis.answer_kind),
        names=(lambda symbol: is_named(symbol, names)) if names else None,
        timed=timed or Timed(),
        order=analysis.order,
    )


def _share_of(keys: frozenset[str]) -> Callable[[str], float]:
    return lambda text: len(entities_named(text, keys)) / len(keys)
