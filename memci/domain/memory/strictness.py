"""Which messages are worth no memory at all (R2): losing what matters is worse than small talk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from memci.domain.memory.novelty import Detail, details_of, information
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.small_talk import is_trivial, telling_words, words_of
from memci.domain.memory.state import FilterReason
from memci.domain.memory.windows import Standing, Utterance, exchanges, windows_around

# Cosine of the utterances at two places of a session.
Likeness: TypeAlias = Callable[[int, int], float]

# Characters. A longer text repeats another only as a whole: its details would cost too much.
_LONGEST = 4_000


def judged(
    utterances: Sequence[Utterance], likeness: Likeness, parameters: MemoryParameters
) -> list[FilterReason | None]:
    """Return why each utterance of one session, in order, makes no memory; None: it makes one.

    Only what stands to be judged is refused, and only when every window that it lies in refuses
    it. A question and its answers are kept together, unless all of them are repetitions.
    """
    if not parameters.simplemem_enabled:
        return [None] * len(utterances)
    return _Session(utterances, likeness, parameters).verdicts()


class _Session:
    """Utterances by their places, and what is known of each.

    ``scores``: how much each tells, 0 to 1. ``trivial`` and ``repeated`` hold places.
    """

    def __init__(
        self, utterances: Sequence[Utterance], likeness: Likeness, parameters: MemoryParameters
    ) -> None:
        self.utterances = utterances
        self.likeness = likeness
        self.parameters = parameters
        self.around = windows_around(len(utterances), parameters)
        self.exchanges = exchanges(utterances, parameters.window_size)
        self.bound = {place for exchange in self.exchanges for place in exchange}
        self.speakers = {name for each in utterances for name in each.speaker[1:] if name}
        self.trivial = {place for place in range(len(utterances)) if self._is_trivial(place)}
        self.telling = {
            place
            for place, each in enumerate(utterances)
            if len(each.text) > _LONGEST or telling_words(each.text)
        }
        self.scores: list[float] = []
        for place in range(len(utterances)):
            self.scores.append(self._score(place))

    def verdicts(self) -> list[FilterReason | None]:
        kept = {
            place
            for exchange in self.exchanges
            if not all(self._is_repeated(each) for each in exchange)
            for place in exchange
        }
        return [
            None if place in kept or each.standing is not Standing.JUDGED else self._verdict(place)
            for place, each in enumerate(self.utterances)
        ]

    def _verdict(self, place: int) -> FilterReason | None:
        if place in self.trivial:
            return FilterReason.TRIVIAL
        if self._is_repeated(place):
            return FilterReason.REPEATED
        windows = self.around[place]
        if place not in self.bound and all(self._says_too_little(window) for window in windows):
            return FilterReason.LOW_INFORMATION
        return None

    def _is_trivial(self, place: int) -> bool:
        each = self.utterances[place]
        if place in self.bound or not self.parameters.skip_trivial:
            return False
        if each.standing is not Standing.JUDGED or len(each.text) > _LONGEST:
            return False
        return is_trivial(each.text, self.parameters.min_content_length, self.speakers)

    def _score(self, place: int) -> float:
        """Say how much an utterance tells; those before it have their score already."""
        standing = self.utterances[place].standing
        if standing is not Standing.JUDGED:
            return 0.0 if standing is Standing.PASSED else 1.0
        if place in self.trivial or place not in self.telling:
            return 0.0
        # The last window has the shortest memory: if it takes this for a repetition, all do.
        before = self._said_before(place, self.around[place][-1])
        known = {detail for each in before for detail in self._details[each]}
        alike = max((self._likeness(place, each) for each in before), default=0.0)
        return information(self._details[place], known, alike)

    def _said_before(self, place: int, window: range) -> list[int]:
        """Return what the same speaker said, and memory kept, in a window and the two before it."""
        first = max(0, window.start - 2 * self.parameters.window_stride)
        return [
            each
            for each in range(first, place)
            if self.utterances[each].speaker == self.utterances[place].speaker
            and self.scores[each] >= self._threshold > 0
        ]

    def _likeness(self, place: int, other: int) -> float:
        same = self._details[place] == self._details[other]
        return 1.0 if same else self.likeness(place, other)

    def _is_repeated(self, place: int) -> bool:
        """Tell whether it names something and nothing that is new, or was refused before."""
        if self.utterances[place].standing is Standing.PASSED:
            return True
        return place in self.telling and self.scores[place] < self._threshold

    def _says_too_little(self, window: range) -> bool:
        return max(self.scores[place] for place in window) < self._threshold

    @property
    def _threshold(self) -> float:
        return self.parameters.novelty_threshold

    @cached_property
    def _details(self) -> list[frozenset[Detail]]:
        texts = [each.text for each in self.utterances]
        return [
            details_of(words_of(text) if len(text) <= _LONGEST else [text.strip()])
            for text in texts
        ]
