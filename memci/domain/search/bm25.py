"""BM25 scores, the same as the database computes, and of texts that no index holds (R10b, R11b).

A message is looked for by its own words, and by those of the five messages that it is the middle
of: an answer seldom repeats the words of its question. Measured, that is the largest single gain
(retrieval-and-assembly.md, "What is known to work").

One number holds both, so that the messages beside one are found by adding to it: rank in the
lower 32 bits, number of the session above them. Ranks count from 0, in the order of indexing, and
an erased message leaves its number free: those about it were no neighbours.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import sub
from typing import TypeAlias

from memci.domain.search.candidate import Candidate, Source

_SESSION = 1 << 32

# Messages on either side that lend a message their words and their sense.
REACH = 2


def position_at(session: int, rank: int) -> int:
    """Return the position of the ``rank``-th message of the ``session``-th session, from 0."""
    return session * _SESSION + rank


def session_at(position: int) -> int:
    """Return the number of the session that a position lies in."""
    return position // _SESSION


def first_after(session: int) -> int:
    """Return the first position behind all that a session may have."""
    return (session + 1) * _SESSION


K1 = 1.2
B = 0.75
# A long text as a question is asked for its rarest terms only: the common ones cost most and
# say least.
MAX_QUESTION_TERMS = 512
MAX_SCORED_TERMS = 64
# What a message's own words count for beside those of its neighbourhood.
OWN = 0.75
# What Chinese questions are made of, whatever they ask for: in pairs, as the index has them.
_PAIR = 2
_PARTICLES = frozenset("什么吗呢吧")
_ASKING = frozenset(
    re.findall("..", "时候多少哪里哪儿哪个哪些怎样如何为何请问问一一下你好您好我们你们他们她们咱们")
)
_STEPS = range(-REACH, REACH + 1)
_WIDTH = len(_STEPS)


@dataclass(frozen=True, slots=True)
class Collected:
    """Statistics of an index: texts in it, their mean length in terms, and texts per term."""

    texts: float
    mean_length: float
    frequency: Mapping[str, float]


# Of each term, how often it stands in the message at a position.
Postings = Mapping[str, Mapping[int, int]]


def question_terms(terms: Sequence[str]) -> list[str]:
    """Return distinct terms in their order, at most ``MAX_QUESTION_TERMS``.

    Pairs of Chinese characters that only ask, greet or point are none of them, as English function
    words are none of any text: in a small index they would be as rare as what is asked for. A
    question of nothing else keeps them.
    """
    distinct = list(dict.fromkeys(terms))
    return ([each for each in distinct if not _only_asks(each)] or distinct)[:MAX_QUESTION_TERMS]


def _only_asks(term: str) -> bool:
    is_pair = len(term) == _PAIR and not term.isascii()
    return is_pair and (term in _ASKING or not _PARTICLES.isdisjoint(term))


def scored_terms(terms: Collection[str], collected: Collected) -> frozenset[str]:
    """Return the rarest terms, at most ``MAX_SCORED_TERMS``; those nowhere in the index first."""
    rarest = sorted(terms, key=lambda term: (collected.frequency.get(term, 0.0), term))
    return frozenset(rarest[:MAX_SCORED_TERMS])


def collected_of(texts: Collection[Sequence[str]]) -> Collected:
    """Return the statistics of texts that are in no index, given as their terms."""
    held = Counter(term for text in texts for term in set(text))
    length = sum(map(len, texts)) / max(len(texts), 1)
    return Collected(max(len(texts), 1), max(length, 1.0), held)


def score(
    text: Sequence[str],
    question: Collection[str],
    collected: Collected,
    *,
    length: float | None = None,
) -> float:
    """Score the terms of a text for distinct question terms; 0 when they share none.

    ``length``: the text's, where ``text`` is not all of it.
    """
    counted = Counter(term for term in text if term in question)
    norm = K1 * (1 - B + B * (length or len(text)) / collected.mean_length)
    return sum(
        rarity(min(collected.frequency.get(term, 0.0), collected.texts), collected.texts)
        * (times * (K1 + 1) / (times + norm))
        for term, times in counted.items()
    )


def around(positions: Iterable[int], postings: Postings, texts: float) -> dict[int, float]:
    """Score the neighbourhoods of some positions: ``REACH`` messages on either side.

    ``texts`` are in the index. How many neighbourhoods hold a term decides how rare it is, not how
    many messages do. All are taken to be of one length: long ones are of a talk that goes into
    its matter.
    """
    scores = dict.fromkeys(positions, 0.0)
    within_reach = {position + step for position in scores for step in _STEPS}
    for counts in postings.values():
        rare = rarity(min(_neighbourhoods(counts), texts), texts)
        held: dict[int, int] = {}
        for near in within_reach & counts.keys():
            for middle in range(near - REACH, near + REACH + 1):
                if middle in scores:
                    held[middle] = held.get(middle, 0) + counts[near]
        for middle, times in held.items():
            scores[middle] += rare * times * (K1 + 1) / (times + K1)
    return scores


def rarity(holding: float, texts: float) -> float:
    """Return what a term weighs that so many of all texts hold."""
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5))


def _neighbourhoods(counts: Collection[int]) -> int:
    """Count the neighbourhoods with a message at any of these positions in them."""
    ordered = sorted(counts)
    gaps: Iterable[int] = map(sub, ordered[1:], ordered)
    return _WIDTH * len(ordered) - sum(_WIDTH - gap for gap in gaps if gap < _WIDTH)


Terms: TypeAlias = Callable[[str], Sequence[str]]

MOST_PROBES = 48
MOST_CHARACTERS = 20_000  # so much of a text is looked at
_LONGEST_SHORT = 3
_INTEGER_WITH_THOUSANDS = re.compile(r"(\d{4,})(\.\d+)?")
# Scripts that are written with spaces: words of the others end where these begin.
_SPACED = "0-9a-z\u00aa-\u0dff"


def folded(text: str) -> str:
    """Return what is looked at of a text as terms have it: NFKC, in small letters."""
    begin = text[:MOST_CHARACTERS]
    return (begin if begin.isascii() else unicodedata.normalize("NFKC", begin)).lower()


def probes_of(terms: Collection[str]) -> list[str]:
    """Return parts of words, one of which is in every word that has one of these terms.

    As ``folded`` has the words. A stem may differ from its words by its end; what holds a part by
    chance has not the term.
    """
    probes = itertools.chain.from_iterable(map(_begins, terms))
    return list(dict.fromkeys(itertools.islice(probes, MOST_PROBES)))


def _begins(term: str) -> tuple[str, ...]:
    """Return what words of this term begin with: dri (dry, dried), reliabl (reliability)."""
    if number := _INTEGER_WITH_THOUSANDS.fullmatch(term):
        return term, f"{int(number[1]):,}{number[2] or ''}"
    if not (term.isascii() and term.isalpha()) or len(term) < _LONGEST_SHORT:
        return (term,)
    if len(term) == _LONGEST_SHORT:
        return term, *_other_forms(term)
    return (term[:-1] if term[-1] in "eiy" or term.endswith("bl") else term,)


def _other_forms(short: str) -> Iterator[str]:
    """Yield how other words of a stem begin that is too short to be cut: that is in most texts."""
    if short.endswith("ie"):
        yield f"{short[:-2]}y"  # lie, lying
    elif short[-1] in "iy":
        yield from (f"{short[:-1]}{end}" for end in ("y", "ie") if not short.endswith(end))
    elif short.endswith("e"):
        yield f"{short[:-1]}i"  # use, using


def scored(
    kept: Sequence[Candidate],
    question: Sequence[str],
    terms: Terms,
    known: Collected | None,
) -> list[Candidate]:
    """Return those that hold terms of a question, with their scores, as messages are scored.

    ``terms`` cuts a text into terms; ``known``: statistics of the messages, if these are searched.
    Lengths are compared with those of the same source, in characters: a summary is longer than a
    message, and means no less for it.
    """
    held = _Held(question, terms)
    found = {(each.source, each.key): held.of(each.text) for each in kept}
    means = _mean_lengths(kept)
    known = known or collected_of(list(found.values()))
    asked = scored_terms(question, known)
    scores = (
        score(
            found[each.source, each.key],
            asked,
            replace(known, mean_length=means[each.source]),
            length=len(each.text),
        )
        for each in kept
    )
    return [
        each._replace(lexical=(1 + OWN) * score)
        for each, score in zip(kept, scores, strict=True)
        if score > 0
    ]


class _Held:
    """Which terms of a question texts hold, as often as they do."""

    def __init__(self, question: Sequence[str], terms: Terms) -> None:
        self._terms = terms
        self._asked = frozenset(question)
        self._unspaced = [each for each in question if not each.isascii()]
        begins = probes_of([each for each in question if each.isascii()])
        any_begin = "|".join(map(re.escape, begins))
        words = rf"(?<![{_SPACED}])(?:{any_begin})[{_SPACED}]*(?:[.,]\d+)*"
        self._word = re.compile(words) if begins else None

    def of(self, text: str) -> list[str]:
        low = folded(text)
        found = self._worded(low, self._word) if self._word else []
        return [*found, *(each for each in self._unspaced for _ in range(low.count(each)))]

    def _worded(self, low: str, word: re.Pattern[str]) -> list[str]:
        words = self._terms(" ".join(word.findall(low)))
        return [each for each in words if each in self._asked and each.isascii()]


def _mean_lengths(kept: Sequence[Candidate]) -> Mapping[Source, float]:
    lengths: dict[Source, list[int]] = {}
    for each in kept:
        lengths.setdefault(each.source, []).append(len(each.text))
    return {source: max(sum(each) / len(each), 1.0) for source, each in lengths.items()}
