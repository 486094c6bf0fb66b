"""The windows in which messages of a session are judged (R1), and questions with their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.small_talk import asks, can_answer

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
        return self.calls or asks(self.text[-_END:])


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
