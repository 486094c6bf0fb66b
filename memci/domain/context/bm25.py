"""BM25, as the database scores the index and as we score what it cannot (R10b, R11b).

A message is looked for by its own words, and by those of the five messages that it is the middle
of: an answer seldom repeats the words of its question. Measured, that is the largest single gain
(retrieval-and-assembly.md, "What is known to work").
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import sub

from memci.domain.context.position import REACH

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
