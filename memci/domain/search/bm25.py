"""BM25 scores, as the database computes them, also of texts in no index (R10b, R11b).

A message is searched by its own words and those of the two messages on either side: an answer
seldom repeats the words of its question. This is the largest single measured gain
(retrieval-and-assembly.md, "What is known to work").

The position of a message has its rank in the lower 32 bits and the number of its session above
them, so neighbours are found by addition. Ranks count from 0, in the order of indexing. The rank of
an erased message stays free, so that the messages around it do not become neighbours.
"""

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

# Messages on either side whose words count for a message.
REACH = 2


def position_at(session: int, rank: int) -> int:
    """Return the position of the ``rank``-th message of the ``session``-th session, from 0."""
    return session * _SESSION + rank


def session_at(position: int) -> int:
    """Return the number of the session of a position."""
    return position // _SESSION


def first_after(session: int) -> int:
    """Return the first position after all positions of a session."""
    return (session + 1) * _SESSION


K1 = 1.2
B = 0.75
# Only the rarest terms of a long question are searched: common ones cost most and help least.
MAX_QUESTION_TERMS = 512
MAX_SCORED_TERMS = 64
# Function words of Chinese questions, in pairs as in the index.
_PAIR = 2
_PARTICLES = frozenset("什么吗呢吧")
_ASKING = frozenset(
    re.findall("..", "时候多少哪里哪儿哪个哪些怎样如何为何请问问一一下你好您好我们你们他们她们咱们")
)
_STEPS = range(-REACH, REACH + 1)
_WIDTH = len(_STEPS)


@dataclass(frozen=True, slots=True)
class Collected:
    """Statistics of an index."""

    texts: float  # number of texts
    mean_length: float  # in terms
    frequency: Mapping[str, float]  # number of texts with a term


# The frequency of each term, by the position of the message.
Postings = Mapping[str, Mapping[int, int]]


def question_terms(terms: Sequence[str]) -> list[str]:
    """Return distinct terms in their order, at most ``MAX_QUESTION_TERMS``.

    Pairs of Chinese characters that only ask, greet or point are left out, as English function
    words are: in a small index they would be as rare as content words. A question with only such
    pairs keeps them.
    """
    distinct = list(dict.fromkeys(terms))
    return ([each for each in distinct if not _only_asks(each)] or distinct)[:MAX_QUESTION_TERMS]


def _only_asks(term: str) -> bool:
    is_pair = len(term) == _PAIR and not term.isascii()
    return is_pair and (term in _ASKING or not _PARTICLES.isdisjoint(term))


def scored_terms(terms: Collection[str], collected: Collected) -> frozenset[str]:
    """Return the rarest terms, at most ``MAX_SCORED_TERMS``."""
    rarest = sorted(terms, key=lambda term: (collected.frequency.get(term, 0.0), term))
    return frozenset(rarest[:MAX_SCORED_TERMS])


def collected_of(texts: Collection[Sequence[str]]) -> Collected:
    """Return the statistics of texts, given as their terms."""
    frequency = Counter(term for text in texts for term in set(text))
    length = sum(map(len, texts)) / max(len(texts), 1)
    return Collected(max(len(texts), 1), max(length, 1.0), frequency)


def score(
    text: Sequence[str],
    question: Collection[str],
    collected: Collected,
    *,
    length: float | None = None,
) -> float:
    """Return the score of the terms of a text for distinct question terms.

    ``length``: the length of the whole text, if ``text`` is a part.
    """
    counted = Counter(term for term in text if term in question)
    norm = K1 * (1 - B + B * (length or len(text)) / collected.mean_length)
    return sum(
        rarity(min(collected.frequency.get(term, 0.0), collected.texts), collected.texts)
        * (times * (K1 + 1) / (times + norm))
        for term, times in counted.items()
    )


def around(positions: Iterable[int], postings: Postings, texts: float) -> dict[int, float]:
    """Return the scores of the neighbourhoods of some positions: ``REACH`` messages on either side.

    ``texts``: number of texts in the index. The rarity of a term depends on the neighbourhoods that
    contain it. All neighbourhoods count as equally long.
    """
    scores = dict.fromkeys(positions, 0.0)
    within_reach = {position + step for position in scores for step in _STEPS}
    for counts in postings.values():
        rare = rarity(min(_neighbourhoods(counts), texts), texts)
        times_at: dict[int, int] = {}
        for near in within_reach & counts.keys():
            for middle in range(near - REACH, near + REACH + 1):
                if middle in scores:
                    times_at[middle] = times_at.get(middle, 0) + counts[near]
        for middle, times in times_at.items():
            scores[middle] += rare * times * (K1 + 1) / (times + K1)
    return scores


def rarity(holding: float, texts: float) -> float:
    """Return the weight of a term that ``holding`` of ``texts`` texts contain."""
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5))


def _neighbourhoods(counts: Collection[int]) -> int:
    """Count the neighbourhoods that contain any of these positions."""
    ordered = sorted(counts)
    gaps: Iterable[int] = map(sub, ordered[1:], ordered)
    return _WIDTH * len(ordered) - sum(_WIDTH - gap for gap in gaps if gap < _WIDTH)


Terms: TypeAlias = Callable[[str], Sequence[str]]

MOST_PROBES = 48
MOST_CHARACTERS = 20_000  # of a text that are searched
_LONGEST_SHORT = 3
_INTEGER_WITH_THOUSANDS = re.compile(r"(\d{4,})(\.\d+)?")
# Scripts that are written with spaces: words of the others end where these begin.
_SPACED = "0-9a-z\u00aa-\u0dff"


def folded(text: str) -> str:
    """Return the part of a text that is searched: NFKC, in lower case."""
    begin = text[:MOST_CHARACTERS]
    return (begin if begin.isascii() else unicodedata.normalize("NFKC", begin)).lower()


def probes_of(terms: Collection[str]) -> list[str]:
    """Return parts of words: each word with one of these terms contains one of the parts.

    Words as in ``folded``. A stem may differ from its words at its end. Another word may contain a
    part by chance.
    """
    probes = itertools.chain.from_iterable(map(_word_beginnings, terms))
    return list(dict.fromkeys(itertools.islice(probes, MOST_PROBES)))


def _word_beginnings(term: str) -> tuple[str, ...]:
    """Return the beginnings of words of a term: dri (dry, dried), reliabl (reliability)."""
    if number := _INTEGER_WITH_THOUSANDS.fullmatch(term):
        return term, f"{int(number[1]):,}{number[2] or ''}"
    if not (term.isascii() and term.isalpha()) or len(term) < _LONGEST_SHORT:
        return (term,)
    if len(term) == _LONGEST_SHORT:
        return term, *_other_forms(term)
    return (term[:-1] if term[-1] in "eiy" or term.endswith("bl") else term,)


def _other_forms(short: str) -> Iterator[str]:
    """Yield the beginnings of other words of a stem that is too short to be cut."""
    if short.endswith("ie"):
        yield f"{short[:-2]}y"  # lie, lying
    elif short[-1] in "iy":
        yield from (f"{short[:-1]}{end}" for end in ("y", "ie") if not short.endswith(end))
    elif short.endswith("e"):
        yield f"{short[:-1]}i"  # use, using


def scored(
    candidates: Sequence[Candidate],
    question: Sequence[str],
    terms: Terms,
    known: Collected | None,
) -> list[Candidate]:
    """Return candidates that contain terms of a question, scored like messages.

    ``terms`` cuts a text into terms. ``known``: statistics of the messages, if these are searched.
    Lengths are compared within one source, in characters.
    """
    matcher = _TermMatcher(question, terms)
    found = [matcher.terms_in(each.text) for each in candidates]
    means = _mean_lengths(candidates)
    known = known or collected_of(found)
    asked = scored_terms(question, known)
    hits = []
    for each, words in zip(candidates, found, strict=True):
        of_source = replace(known, mean_length=means[each.source])
        lexical = score(words, asked, of_source, length=len(each.text))
        if lexical > 0:
            hits.append(each._replace(lexical=lexical))
    return hits


class _TermMatcher:
    def __init__(self, question: Sequence[str], terms: Terms) -> None:
        self._terms = terms
        self._asked = frozenset(question)
        self._unspaced = [each for each in question if not each.isascii()]
        begins = probes_of([each for each in question if each.isascii()])
        any_begin = "|".join(map(re.escape, begins))
        words = rf"(?<![{_SPACED}])(?:{any_begin})[{_SPACED}]*(?:[.,]\d+)*"
        self._word = re.compile(words) if begins else None

    def terms_in(self, text: str) -> list[str]:
        low = folded(text)
        words = self._terms(" ".join(self._word.findall(low))) if self._word else ()
        found = [each for each in words if each in self._asked and each.isascii()]
        return [*found, *(each for each in self._unspaced for _ in range(low.count(each)))]


def _mean_lengths(candidates: Sequence[Candidate]) -> Mapping[Source, float]:
    lengths: dict[Source, list[int]] = {}
    for each in candidates:
        lengths.setdefault(each.source, []).append(len(each.text))
    return {source: max(sum(each) / len(each), 1.0) for source, each in lengths.items()}
