"""Find topic changes between utterances.

Phrases raise or lower the price of a cut. The amounts are round numbers, chosen on the development
dialogues of DialSeg711 and TIAGE. Beside the model of sentences they lower P_k there from 24 to 20
and from 41 to 39 percent. The Chinese phrases were not measured, for lack of dialogues.

The value of a segment is the length of the sum of its unit vectors, which is large when they have
one direction, less a price. Measured on DialSeg711 and TIAGE this beats depth scores and
TextTiling, and needs no number of segments.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memci.language.loading import TaskData

# The price of a segment if no phrase is for or against the cut, as a length of a sum of unit
# vectors (retrieval-and-assembly.md, "What is known to work").
PRICE = 0.92

_ANSWER_PRICE = 0.1
_CONTINUATION_PRICE = 0.15
_GREETING_PRICE = -0.35
_TURN_PRICE = -0.1
_NEW_QUESTION_PRICE = -0.12
_CLOSED_PRICE = -0.1
# Characters examined at the end of a message and at the start of the next.
_EXAMINED = 160

_DATA = TaskData("topic_changes")
_QUESTION, _CONTINUES, _GREETS, _TURNS, _NEW_QUESTION, _CLOSES, _NEXT_EVENT = (
    _DATA.pattern(name)
    for name in ("question", "continues", "greets", "turns", "asks_anew", "closes", "next_event")
)


def begins_next_event(sentence: str) -> bool:
    """Return True if a sentence of a story begins its next event: "然后去了图书馆。"."""
    return bool(_NEXT_EVENT.match(sentence))


def seam_price(before: str, after: str) -> float:
    """Return the price of a cut between two messages; a high one keeps them together."""
    end, start = before[-_EXAMINED:], after[:_EXAMINED]
    price = PRICE
    asked = bool(_QUESTION.search(end))
    closed = bool(_CLOSES.search(end))
    continues = bool(_CONTINUES.match(start))
    if closed:
        price += _CLOSED_PRICE
    elif asked:
        price += _ANSWER_PRICE
    if _GREETS.match(start):
        price += _GREETING_PRICE
    if _TURNS.search(start):
        return price + _TURN_PRICE
    if continues:
        price += _CONTINUATION_PRICE
    elif not asked and _NEW_QUESTION.search(start):
        price += _NEW_QUESTION_PRICE
    return price


# Utterances in one segment, at most.
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Seam:
    """The place before a unit: ``closed`` allows no cut, ``forced`` demands one.

    ``price`` of a cut here, in the unit of a vector's length.
    """

    price: float
    forced: bool = False
    closed: bool = False


def best_cuts(
    vectors: npt.NDArray[np.float32],
    lengths: Sequence[int],
    seams: Sequence[Seam],
    most: int,
    unrelated: float = 0.0,
) -> list[int]:
    """Return the start indices of the segments, ascending; the first is 0.

    Row i of ``vectors`` is the unit vector of utterance i, ``lengths[i]`` its characters and
    ``seams[i]`` the place before it. A segment has at most ``most`` characters, or one utterance.
    ``unrelated`` is the cosine of unrelated utterances: only what exceeds it counts.
    """
    count = len(lengths)
    sums = np.vstack([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0)])
    ends = np.concatenate([[0], np.cumsum(np.asarray(lengths) + 1)])
    prices = np.array([1e6 if seam.closed else seam.price for seam in seams])
    best = np.full(count + 1, -np.inf)
    best[0] = 0.0
    came_from = np.zeros(count + 1, dtype=np.int64)
    first = 0
    for end in range(1, count + 1):
        if seams[end - 1].forced:
            first = end - 1
        start = max(first, end - _LONGEST)
        start = min(end - 1, max(start, int(np.searchsorted(ends, ends[end] - 1 - most))))
        squares = np.square(sums[end] - sums[start:end]).sum(axis=1)
        many = np.arange(end - start, 0, -1)
        own = (squares - unrelated * many**2) / (1 - unrelated)
        worth = np.sqrt(np.maximum(own, 0.0))
        values = best[start:end] + worth - prices[start:end]
        chosen = int(values.argmax())
        best[end], came_from[end] = values[chosen], start + chosen
    cuts: list[int] = []
    at = count
    while at > 0:
        at = int(came_from[at])
        cuts.append(at)
    return cuts[::-1]
