"""Decides which messages make no memory: small talk, repetitions, echoes (R1, R2, M26).

Texts are compared by their 5-grams: five words in a row, where each Chinese character counts as a
word; case, width and punctuation do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from memci.domain.memory.parameters import MemoryParameters
from memci.language.small_talk import (
    asks_something,
    can_answer,
    content_words,
    is_trivial,
    split_words,
)

# A word, or two neighbours: "Tom called Ann" and "Ann called Tom" have the same words.
Detail: TypeAlias = tuple[str, ...]


def details_of(words: Sequence[str]) -> frozenset[Detail]:
    """Return the words of a text and its pairs of neighbouring words."""
    return frozenset([*((word,) for word in words), *pairwise(words)])


def information(details: Collection[Detail], known: Collection[Detail], likeness: float) -> float:
    """Return how much is new in a text, 0 (nothing) to 1.

    ``known`` are the details of what was said before, ``likeness`` is the greatest cosine of the
    text with a piece of it. Each new name, number, word or order of words halves what speaks for a
    repetition, so that "at five" is not taken for a repetition of "at six".
    """
    new = sum(detail not in known for detail in details)
    return 1.0 - min(max(likeness, 0.0), 1.0) * 0.5**new


# Characters at the end of a long message, where its question would be.
_END = 1_000


class Standing(Enum):
    """What part an utterance takes in the judgement."""

    JUDGED = "judged"
    WANTED = "wanted"  # somebody asked for it by name: a memory is made of it in any case
    MADE = "made"  # from before, and in a memory
    PASSED = "passed"  # from before, and in none


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message of one session as the filter sees it; ``calls``: it calls a tool."""

    text: str
    speaker: tuple[str, str]  # role, and name if there is one
    standing: Standing = Standing.JUDGED
    calls: bool = False

    @property
    def is_asking(self) -> bool:
        """Whether what follows may only be understood together with it."""
        return self.calls or asks_something(self.text[-_END:])


def reach(parameters: MemoryParameters) -> int:
    """Return how many messages before the first judged one can matter to it."""
    return parameters.window_size + 2 * parameters.window_stride


def windows_around(count: int, parameters: MemoryParameters) -> list[list[range]]:
    """Return, for each of ``count`` messages, the windows that it lies in: at least one."""
    size = parameters.window_size
    stride = min(size, parameters.window_stride)
    around: list[list[range]] = [[] for _ in range(count)]
    for start in range(0, count, stride):
        window = range(start, min(start + size, count))
        for place in window:
            around[place].append(window)
    return around


def exchanges(utterances: Sequence[Utterance], size: int) -> list[list[int]]:
    """Return the places of each question and its answers.

    What others say answers it, until its speaker goes on, and at most ``size`` messages later.
    """
    return [
        [place, *_answers(utterances, place, size)]
        for place, utterance in enumerate(utterances)
        if utterance.is_asking
    ]


def _answers(utterances: Sequence[Utterance], question: int, size: int) -> list[int]:
    answers = []
    for place in range(question + 1, min(question + size, len(utterances))):
        if utterances[place].speaker == utterances[question].speaker:
            break
        if can_answer(utterances[place].text[:_END]):
            answers.append(place)
    return answers


class MemoryState(StrEnum):
    """Where a message stands on its way into the network."""

    NONE = "none"  # not asked for, or its job was cancelled or discarded
    PENDING = "pending"  # asked for; its job has not run yet
    MADE = "made"  # in at least one node
    FILTERED = "filtered"  # looked at, and made into nothing


class FilterReason(StrEnum):
    """Why a message was made into nothing. It stays stored and searchable all the same."""

    SYSTEM = "system"  # tells an agent what to be; nothing that happened
    EMPTY = "empty"  # no text
    TRIVIAL = "trivial"  # greets, thanks or acknowledges; or names nothing in a few characters
    REPEATED = "repeated"  # its speaker said it in the session's last two windows
    LOW_INFORMATION = "low_information"  # names nothing, and nothing around it tells anything
    ECHO = "echo"  # repeats what its agent was just given (M26)
    CAPACITY = "capacity"  # every slot is taken by what may not give way (M19)
    ERASED = "erased"  # its topic segment held a message that was erased meanwhile


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
            if len(each.text) > _LONGEST or content_words(each.text)
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
            details_of(split_words(text) if len(text) <= _LONGEST else [text.strip()])
            for text in texts
        ]


# Of a text's 5-grams, so many in what one receipt gave make it an echo.
SHARE = 0.9
# Receipts of so many last interactions count.
INTERACTIONS = 20

Gram: TypeAlias = tuple[str, str, str, str, str]

_HAN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+")


def grams(text: str) -> list[Gram]:
    """Return the 5-grams of a text, in order; none, if it has fewer than five words."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return list(zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))


def is_echo(said: Sequence[Gram], given: Iterable[Iterable[frozenset[Gram]]]) -> bool:
    """Tell whether nearly all of what was said stands in what one receipt gave.

    ``given`` holds, for each receipt, the 5-grams of each text that it gave. A quotation inside a
    longer text of one's own is none, and neither is a text too short to have a 5-gram.
    """
    return bool(said) and any(_share(said, texts) >= SHARE for texts in given)


def _share(said: Sequence[Gram], texts: Iterable[frozenset[Gram]]) -> float:
    known = frozenset[Gram]().union(*texts)
    return sum(gram in known for gram in said) / len(said)
