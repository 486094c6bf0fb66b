"""Which messages of a job make no memory, and why (R1, R2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.state import FilterReason
from memci.domain.memory.strictness import Likeness, judged
from memci.domain.memory.windows import Standing, Utterance
from memci.domain.message import Message
from memci.jobs.conversation import Background
from memci.jobs.texts import MessageTexts
from memci.smallmodel.ports import Vectors
from memci.storage.conversations import Earlier


def refusals(
    texts: MessageTexts,
    background: Background,
    parameters: MemoryParameters,
    wanted: Collection[int],
) -> dict[int, FilterReason]:
    """Return why messages make no memory, by seq; those ``wanted`` by name always make one."""
    refused = {}
    for key, messages in background.conversations.items():
        earlier = background.earlier[key]
        utterances = [
            *(_utterance(each.message, _standing_of(each)) for each in earlier),
            *(_utterance(each, _standing(each, wanted)) for each in messages),
        ]
        vectors = np.vstack([_vectors(earlier, background, texts), texts.rows_of(messages)])
        verdicts = judged(utterances, _cosines(vectors), parameters)
        for message, verdict in zip(messages, verdicts[len(earlier) :], strict=True):
            if verdict is not None:
                refused[message.seq] = verdict
    return refused


def _cosines(vectors: Vectors) -> Likeness:
    return lambda one, other: float(vectors[one] @ vectors[other])


def _utterance(message: Message, standing: Standing) -> Utterance:
    speaker = (message.role, message.name or "")
    return Utterance(message.text, speaker, standing, calls=bool(message.tool_calls))


def _standing_of(earlier: Earlier) -> Standing:
    return Standing.MADE if earlier.made else Standing.PASSED


def _standing(message: Message, wanted: Collection[int]) -> Standing:
    return Standing.WANTED if message.seq in wanted else Standing.JUDGED


def _vectors(earlier: Sequence[Earlier], background: Background, texts: MessageTexts) -> Vectors:
    """Return the vectors of what was said before; zero rows where there is none."""
    found = dict(zip(background.embedded.keys, background.embedded.vectors, strict=True))
    none = np.zeros(texts.vectors.shape[1], dtype=np.float32)
    rows = [found.get(each.message.seq, none) for each in earlier]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(none))
