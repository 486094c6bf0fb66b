"""Decides which messages make no memory: small talk, repetitions, echoes (R1, R2, M26).

Texts are compared by their 5-grams: five words in a row. Each Chinese character counts as a word;
case, width and punctuation do not count.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from itertools import pairwise
from typing import TypeAlias

from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import language_of
from memci.language.small_talk import (
    asks_something,
    can_answer,
    content_words,
    is_trivial,
    split_words,
)
from memci.language.word_weights import is_specific, weigh

# A word, or two neighbours: "Tom called Ann" and "Ann called Tom" have the same words.
Ngram: TypeAlias = tuple[str, ...]


def ngrams_of(words: Sequence[str]) -> frozenset[Ngram]:
    """Return the words of a text and its pairs of neighbouring words."""
    return frozenset([*((word,) for word in words), *pairwise(words)])


def novelty(ngrams: Collection[Ngram], known: Collection[Ngram], similarity: float) -> float:
    """Return how much of a text is new, from 0 (nothing) to 1.

    ``known`` are the n-grams of earlier texts; ``similarity`` is the greatest cosine of the text
    with one of them. Each new name, number, word or order of words halves the evidence for a
    repetition, so that "at five" does not repeat "at six".
    """
    new = sum(ngram not in known for ngram in ngrams)
    return 1.0 - min(max(similarity, 0.0), 1.0) * 0.5**new


# Characters at the end of a long message that are searched for a question.
_END = 1_000


class Status(Enum):
    """The state of an utterance before the filter."""

    CANDIDATE = "candidate"  # the filter decides
    WANTED = "wanted"  # requested by its id: always makes a memory
    REMEMBERED = "remembered"  # judged earlier, in a memory
    REFUSED = "refused"  # judged earlier, in no memory


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message of one session, as input of the filter."""

    text: str
    speaker: tuple[str, str]  # role, and name if there is one
    status: Status = Status.CANDIDATE
    calls: bool = False  # it calls a tool
    talk: float = 0.0  # probability that a model takes all of it for small talk

    @property
    def is_question(self) -> bool:
        """True if the next messages may depend on it."""
        return self.calls or asks_something(self.text[-_END:])


def context_size(parameters: MemoryParameters) -> int:
    """Return the number of messages before the first candidate that can matter to it."""
    return parameters.window_size + 2 * parameters.window_stride


def windows_of(count: int, parameters: MemoryParameters) -> list[list[range]]:
    """Return, for each of ``count`` messages, the windows that contain it: at least one."""
    size = parameters.window_size
    windows: list[list[range]] = [[] for _ in range(count)]
    for start in range(0, count, min(size, parameters.window_stride)):
        window = range(start, min(start + size, count))
        for index in window:
            windows[index].append(window)
    return windows


def exchanges(utterances: Sequence[Utterance], size: int) -> list[list[int]]:
    """Return the indexes of each question and its answers.

    Utterances of others answer it, until its speaker continues, and at most ``size`` messages
    later.
    """
    return [
        [index, *_answers(utterances, index, size)]
        for index, utterance in enumerate(utterances)
        if utterance.is_question
    ]


def _answers(utterances: Sequence[Utterance], question: int, size: int) -> list[int]:
    answers = []
    for index in range(question + 1, min(question + size, len(utterances))):
        if utterances[index].speaker == utterances[question].speaker:
            break
        if can_answer(utterances[index].text[:_END]):
            answers.append(index)
    return answers


class MemoryState(StrEnum):
    """The state of a message on its way into the network."""

    NONE = "none"  # not requested, or its job was cancelled or discarded
    PENDING = "pending"  # requested; its job has not run yet
    MADE = "made"  # in at least one node
    FILTERED = "filtered"  # the filter refused it


class FilterReason(StrEnum):
    """The reason why a message makes no memory. The message stays stored and searchable."""

    SYSTEM = "system"  # a system prompt
    EMPTY = "empty"  # no text
    TRIVIAL = "trivial"  # greets, thanks or acknowledges; or has few characters and no name
    REPEATED = "repeated"  # its speaker said it in the session's last two windows
    LOW_INFORMATION = "low_information"  # no names, and no information around it
    ECHO = "echo"  # repeats the answer of a recent read (M26)
    CAPACITY = "capacity"  # no slot could be freed for it (M19)
    ERASED = "erased"  # a message of its topic segment was erased meanwhile


# Cosine of the utterances at two indexes.
Similarity: TypeAlias = Callable[[int, int], float]

# A fact that is taken for small talk is lost to the network.
_CERTAINLY_TALK = 0.9
# Characters. A longer text repeats another only as a whole: its n-grams would cost too much.
_LONGEST = 4_000


def filter_reasons(
    utterances: Sequence[Utterance], similarity: Similarity, parameters: MemoryParameters
) -> list[FilterReason | None]:
    """Return for each utterance of one session, in order, why it makes no memory, or None.

    A candidate is refused only when every window that contains it refuses it. A question and its
    answers stay together, unless all of them are repetitions or small talk.
    """
    if not parameters.simplemem_enabled:
        return [None] * len(utterances)
    return _Session(utterances, similarity, parameters).reasons()


class _Session:
    def __init__(
        self, utterances: Sequence[Utterance], similarity: Similarity, parameters: MemoryParameters
    ) -> None:
        self.utterances = utterances
        self.similarity = similarity
        self.parameters = parameters
        self.threshold = parameters.novelty_threshold
        self.windows = windows_of(len(utterances), parameters)
        self.speakers = {name for each in utterances for name in each.speaker[1:] if name}
        self.exchanges = [
            exchange
            for exchange in exchanges(utterances, parameters.window_size)
            if not all(self._is_talk(index) for index in exchange)
        ]
        self.in_exchange = {index for exchange in self.exchanges for index in exchange}
        self.ngrams = [
            ngrams_of(split_words(each.text) if len(each.text) <= _LONGEST else [each.text.strip()])
            for each in utterances
        ]
        self.trivial = {index for index in range(len(utterances)) if self._is_trivial(index)}
        self.informative = {
            index
            for index, each in enumerate(utterances)
            if len(each.text) > _LONGEST or content_words(each.text)
        }
        self.novelty: list[float] = []  # 0 to 1
        for index in range(len(utterances)):
            self.novelty.append(self._novelty_of(index))

    def reasons(self) -> list[FilterReason | None]:
        kept = {
            index
            for exchange in self.exchanges
            if not all(self._is_repeated(each) for each in exchange)
            for index in exchange
        }
        return [
            None
            if index in kept or each.status is not Status.CANDIDATE
            else self._filter_reason(index)
            for index, each in enumerate(self.utterances)
        ]

    def _filter_reason(self, index: int) -> FilterReason | None:
        if index in self.trivial:
            return FilterReason.TRIVIAL
        if self._is_repeated(index):
            return FilterReason.REPEATED
        if index not in self.in_exchange and all(
            max(self.novelty[each] for each in window) < self.threshold
            for window in self.windows[index]
        ):
            return FilterReason.LOW_INFORMATION
        return None

    def _is_trivial(self, index: int) -> bool:
        each = self.utterances[index]
        if index in self.in_exchange or not self._is_short(each):
            return False
        if self._is_talk(index):
            return True
        return is_trivial(each.text, self.parameters.min_content_length, self.speakers)

    def _is_short(self, each: Utterance) -> bool:
        """Return True for a candidate that may be too trivial for a memory."""
        if each.status is not Status.CANDIDATE or not self.parameters.skip_trivial:
            return False
        return len(each.text) <= _LONGEST

    def _is_talk(self, index: int) -> bool:
        """Return True if a model is certain that an utterance is small talk."""
        each = self.utterances[index]
        if not self._is_short(each) or each.calls or each.talk < _CERTAINLY_TALK:
            return False
        return not self._names_something(each.text)

    def _names_something(self, text: str) -> bool:
        """Return True if a text has a number, or a name of none of the speakers."""
        called = {word for name in self.speakers for word in split_words(name)}
        words = weigh(text, language_of(text))
        return any(is_specific(word) and word.key not in called for word in words)

    def _novelty_of(self, index: int) -> float:
        """Return the novelty of an utterance; earlier ones are judged already."""
        status = self.utterances[index].status
        if status is not Status.CANDIDATE:
            return 0.0 if status is Status.REFUSED else 1.0
        if index in self.trivial or index not in self.informative:
            return 0.0
        # The last window is the shortest: if it has a repetition, all windows have it.
        earlier = self._earlier_of_speaker(index, self.windows[index][-1])
        known = {ngram for each in earlier for ngram in self.ngrams[each]}
        closest = max((self._similarity(index, each) for each in earlier), default=0.0)
        return novelty(self.ngrams[index], known, closest)

    def _earlier_of_speaker(self, index: int, window: range) -> list[int]:
        """Return new utterances of the same speaker, in a window and the two before it."""
        first = max(0, window.start - 2 * self.parameters.window_stride)
        return [
            each
            for each in range(first, index)
            if self.utterances[each].speaker == self.utterances[index].speaker
            and self.novelty[each] >= self.threshold > 0
        ]

    def _similarity(self, index: int, other: int) -> float:
        same = self.ngrams[index] == self.ngrams[other]
        return 1.0 if same else self.similarity(index, other)

    def _is_repeated(self, index: int) -> bool:
        """Return True if it has content without novelty, or was refused before."""
        if self.utterances[index].status is Status.REFUSED:
            return True
        return index in self.informative and self.novelty[index] < self.threshold


# The share of a text's 5-grams in one receipt that makes it an echo.
ECHO_SHARE = 0.9
# The last interactions whose receipts count.
ECHO_INTERACTIONS = 20

Gram: TypeAlias = tuple[str, str, str, str, str]

_HAN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+")


def grams(text: str) -> list[Gram]:
    """Return the 5-grams of a text, in order; none for fewer than five words."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return list(zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))


def is_echo(text: Sequence[Gram], receipts: Iterable[Iterable[frozenset[Gram]]]) -> bool:
    """Return True if nearly all 5-grams of a text are in the texts of one receipt.

    ``receipts`` has, for each receipt, the 5-grams of each of its texts. A quotation inside a
    longer text is no echo, and neither is a text without a 5-gram.
    """
    return bool(text) and any(
        sum(gram in known for gram in text) / len(text) >= ECHO_SHARE
        for known in (frozenset[Gram]().union(*texts) for texts in receipts)
    )
