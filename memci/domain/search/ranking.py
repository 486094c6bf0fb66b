"""Combines the scores of several channels, and hints from the question, into one ranking (R11).

Scores are scaled to 0..1 and summed by weight. So a weak channel cannot spoil a strong one, as it
does if only ranks count. Then priors and bonuses are added, each measured alone
(retrieval-and-assembly.md, "What is known to work").
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeAlias

from memci.domain.documents import is_named
from memci.domain.search.candidate import KEPT, SAID, WRITTEN, Candidate, Channel, Source, Timed
from memci.language.names import entities_named
from memci.language.question import AnswerKind, Order, QueryAnalysis

# Cormack, Clarke and Büttcher 2009: a constant that flattens the weights of the first ranks.
RRF_K = 60
# Returns the raw score of a channel.
_SCORES: Mapping[Channel, Callable[[Candidate], float | None]] = {
    Channel.DENSE: attrgetter("dense"),
    Channel.LEXICAL: attrgetter("lexical"),
    Channel.BFS: attrgetter("linked"),
}
_BY_SCORE = itemgetter(0, 1)
# A leading time scores above the best of each channel.
_LEAD = (len(Channel) + 1) / (RRF_K + 1)
# A candidate with a lower cosine is a hit only by another channel.
DENSE_FLOOR = 0.1
# The limit for files, which no conversation has mentioned, is higher.
_WRITTEN_FLOOR = 0.2


class Ranked(NamedTuple):
    """A candidate with its fused score and its rank, from 1, in each channel that found it."""

    candidate: Candidate
    score: float
    ranks: Mapping[Channel, int]

    @property
    def key(self) -> tuple[Source, int]:
        """The key of its candidate."""
        return self.candidate.source, self.candidate.key


def fuse_rrf(
    candidates: Sequence[Candidate], channels: Collection[Channel], timed: Timed | None = None
) -> list[Ranked]:
    """Fuse by reciprocal ranks, best first.

    Cosines of messages and memories are ranked together, and so are links. BM25 scores of two
    indexes cannot be compared, so each source has its own lexical ranking. Among equals a message
    precedes a memory, and a later entry an earlier one. Candidates found by time alone (``timed``)
    come last, unless they lead.
    """
    ranks, timed = channel_ranks(candidates, channels), timed or Timed()
    fused = []
    for each in candidates:
        own = ranks.get((each.source, each.key), {})
        if own or timed.has(each):
            score = sum(1 / (RRF_K + rank) for rank in own.values())
            fused.append(Ranked(each, score + (_LEAD if timed.leads(each) else 0.0), own))
    return sorted(fused, key=by_rank)


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
    """Return one ranking of several: each candidate with its best score."""
    if len(rankings) == 1:
        return list(rankings[0])
    best: dict[tuple[Source, int], Ranked] = {}
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
    """Return candidates with a score above ``floor``, best first, the latest of equals first."""
    score = _SCORES[channel]
    above = [
        (found, each.key, each)
        for each in candidates
        if (found := score(each)) is not None and found > floor
    ]
    return [each for _, _, each in sorted(above, key=_BY_SCORE, reverse=True)]


# Returns how well the time and the session of a message fit those that a question names, 0 to 1.
TimeFit: TypeAlias = Callable[[datetime, str | None], float]

# Candidates below this share of the best score are off topic.
_ALIKE = 0.55
# The gain of the first (or last) day if it scores like the best; further days gain less.
_GAIN = 1.0
_FADE = 0.7
_ASKING = ("?", "\uff1f")


def favour_order(
    found: list[Ranked], order: Order | None, time_fit: TimeFit | None
) -> list[Ranked]:
    """Return candidates, unsorted, with better scores for the first or the last occasion.

    Days count, not messages: all messages of a day are about one occasion. Questions are about
    none. If the question asks for no order, the same list object is returned.
    """
    best = max((each.score for each in found), default=0.0)
    if order is None or best <= 0:
        return found
    least = _ALIKE * best
    near = [each for each in found if each.score > least and _is_occasion(each.candidate, time_fit)]
    days = sorted({each.candidate.at.date() for each in near}, reverse=order is Order.LATEST)
    gains = {day: _GAIN * _FADE**place for place, day in enumerate(days)}
    gained = {
        each.key: (each.score - least) / (best - least) * gains[each.candidate.at.date()]
        for each in near
    }
    return [
        Ranked(each.candidate, each.score + gained.get(each.key, 0.0), each.ranks) for each in found
    ]


def _is_occasion(found: Candidate, time_fit: TimeFit | None) -> bool:
    if found.source not in SAID or found.text.rstrip().endswith(_ASKING):
        return False
    return time_fit is None or time_fit(found.at, found.session_id) >= 1


_CHANNELS = {Channel.DENSE: 0.6, Channel.LEXICAL: 0.4}
_LINKED = 0.05
_SESSION = 0.3
_SPEAKER = 0.2
_TIME = 0.5
# More than any score of another time.
_LEAD_OF_TIME = 2.0
# If a question has no words to search for, scores count less, and the content of a text more.
_FAINT = 0.3
_SAYS_SOMETHING = 0.5
_SAYS_WORDS = 4
_LITTLE = 0.01
_ENTITY = 0.1
_NAMED = 0.6
_TYPED = 0.05
_LENGTH = 0.2
_ASKS = 0.1
# Longer texts gain no more; the best texts of a session count.
_LONG = math.log(60)
_BEST_OF_SESSION = 3
# Only the best texts are searched for the names in the question: this is slow.
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


class AnswerType(StrEnum):
    """The kind of answer that a question asks for."""

    TIME = "time"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints from a question about its answer, apart from its words."""

    speakers: frozenset[str] = frozenset()  # the people in it
    time_fit: TimeFit | None = None
    # Returns the share of the question's entities in a text, 0 to 1.
    entity_share: Callable[[str], float] | None = None
    names_symbol: Callable[[str], bool] | None = None  # True for its code symbols
    answer_type: AnswerType | None = None
    timed: Timed = field(default_factory=Timed)
    order: Order | None = None  # the occasion that it asks for


def fuse_scaled(
    candidates: Sequence[Candidate], channels: Collection[Channel], hints: Hints
) -> list[Ranked]:
    """Fuse by scaled scores, best first: candidates with a score, or with the time or symbol.

    Candidates found by time alone come after the rest of their time, unless the time leads.
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
            score = _leading_score(each, score, hints)
        elif own or not hints.timed.has(each):
            score += _bonus(each, hints)
        else:
            score = _score_by_time(each, hints)
        fused.append(Ranked(each, score, own))
    fused.sort(key=by_rank)
    ranking = _with_text_bonus(fused, hints)
    ranking = favour_order(ranking, hints.order, hints.time_fit)
    return ranking if ranking is fused else sorted(ranking, key=by_rank)


def _with_text_bonus(fused: list[Ranked], hints: Hints) -> list[Ranked]:
    """Add the text bonuses for names and answer type to the best candidates."""
    if hints.entity_share is None and hints.answer_type is None:
        return fused
    read = []
    for each in fused[:_READ]:
        text, bonus = each.candidate.text, 0.0
        if hints.entity_share is not None:
            bonus += _ENTITY * hints.entity_share(text)
        if _has_type(text, hints.answer_type):
            bonus += _TYPED
        read.append(Ranked(each.candidate, each.score + bonus, each.ranks))
    return [*read, *fused[_READ:]]


def _bases(found: Sequence[Candidate], channels: Collection[Channel]) -> list[float]:
    """Return each candidate's scaled scores, summed; absent channels count by the others."""
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
    if tops[Source.CHAT] > 0:  # stored texts are scored like messages
        tops.update(dict.fromkeys(KEPT, tops[Source.CHAT]))
    return [
        min((each.lexical or 0.0) / tops[each.source], 1.0) if tops[each.source] > 0 else None
        for each in found
    ]


def _sessions(found: Sequence[Candidate], bases: Sequence[float]) -> dict[str | None, float]:
    """Return the mean score of each session's best: a session on the topic has several."""
    own: defaultdict[str | None, list[float]] = defaultdict(list)
    for each, base in zip(found, bases, strict=True):
        if each.source is Source.CHAT:
            own[each.session_id].append(base)
    return {
        session: sum(sorted(values)[-_BEST_OF_SESSION:]) / _BEST_OF_SESSION
        for session, values in own.items()
    }


def _is_named(each: Candidate, hints: Hints) -> bool:
    if hints.names_symbol is None or each.extract is None:
        return False
    return each.extract.symbol is not None and hints.names_symbol(each.extract.symbol)


def _leading_score(each: Candidate, score: float, hints: Hints) -> float:
    """Return the score of a candidate from a leading time; it depends on the content."""
    says = min(1.0, _words(each.text) / _SAYS_WORDS)
    return _LEAD_OF_TIME + _FAINT * score + _SAYS_SOMETHING * says + _bonus(each, hints)


def _score_by_time(each: Candidate, hints: Hints) -> float:
    """Return the score of a candidate found by time alone: the lowest of its time."""
    fit = hints.time_fit(each.at, each.session_id) if hints.time_fit is not None else 0.0
    return _TIME * fit - _ASKS + _LITTLE * _length(each.text)


def _bonus(each: Candidate, hints: Hints) -> float:
    """Return the bonus of a candidate for its length, speaker, time and symbol."""
    bonus = _LENGTH * _length(each.text)
    if len(hints.speakers) == 1 and each.name in hints.speakers:
        bonus += _SPEAKER
    if hints.time_fit is not None and each.source in SAID:
        bonus += _TIME * hints.time_fit(each.at, each.session_id)
    if _is_named(each, hints):
        bonus += _NAMED
    if each.text.rstrip().endswith(_ASKING):
        bonus -= _ASKS
    return bonus


def _length(text: str) -> float:
    return min(1.0, math.log1p(_words(text)) / _LONG)


def _words(text: str) -> float:
    """Count words; two Han characters are about one."""
    if text.isascii():
        return text.count(" ") + 1
    han = len(_HAN.findall(text))
    return han / 2 if han else len(_WORD.findall(text))


def _has_type(text: str, answer_type: AnswerType | None) -> bool:
    if answer_type is AnswerType.TIME:
        return _TIMES.search(text) is not None
    return answer_type is AnswerType.NUMBER and _NUMBERS.search(text) is not None


_ANSWER_TYPES = {AnswerKind.WHEN: AnswerType.TIME, AnswerKind.HOW_MANY: AnswerType.NUMBER}


def hints_of(analysis: QueryAnalysis, names: Collection[str], timed: Timed) -> Hints:
    """Return the hints of an analysis; ``names`` are the code names in the question."""
    keys = analysis.entity_keys
    return Hints(
        speakers=analysis.speakers,
        time_fit=analysis.time_fit if analysis.times else None,
        entity_share=(lambda text: len(entities_named(text, keys)) / len(keys)) if keys else None,
        names_symbol=(lambda symbol: is_named(symbol, names)) if names else None,
        answer_type=_ANSWER_TYPES.get(analysis.answer_kind),
        timed=timed,
        order=analysis.order,
    )
