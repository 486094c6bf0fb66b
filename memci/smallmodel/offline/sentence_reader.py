"""The built-in reader of sentences: the sentence model on the built-in embedder's states (E9)."""

from collections.abc import Sequence

import numpy as np

from memci.domain.pages.pins import PinKind
from memci.message import Message, Role
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder, Sentences
from memci.smallmodel.offline.sentence_model import (
    KEYS,
    SPEAKERS,
    key_probabilities,
)
from memci.smallmodel.ports import ReadSentence

_USER, _PERSON, _ASSISTANT = SPEAKERS
# A key message costs tokens in every context, so it is more likely than not.
_LEAST = 0.5


class OfflineSentenceReader:
    """Reads English and Chinese sentences; what was just encoded costs almost nothing."""

    def __init__(self, embedder: OfflineEmbedder) -> None:
        """Take the built-in embedder, even if another one makes the vectors."""
        self._embedder = embedder

    def read(self, messages: Sequence[Message]) -> list[list[ReadSentence]]:
        """Return the sentences of each message in order; none for a message without text."""
        spoken = [message for message in messages if message.text.strip()]
        found = self._embedder.sentences([message.searched for message in spoken])
        by_seq = {
            message.seq: _read(message, each) for message, each in zip(spoken, found, strict=True)
        }
        return [by_seq.get(message.seq, []) for message in messages]


def _read(message: Message, sentences: Sentences) -> list[ReadSentence]:
    # The speaker's name, which the model reads, is no part of the text.
    name = len(message.searched) - len(message.text)
    keys = key_probabilities(sentences.features, speaker_of(message))
    return [
        ReadSentence(max(start - name, 0), stop - name, _key(row))
        for (start, stop), row in zip(sentences.spans, keys, strict=True)
    ]


def _key(probabilities: np.ndarray) -> PinKind | None:
    if probabilities[1:].sum() < _LEAST:
        return None
    return PinKind(KEYS[1 + int(probabilities[1:].argmax())])


def speaker_of(message: Message) -> str:
    """Return who speaks, as the model distinguishes: a user with a name speaks to people."""
    if message.role is not Role.USER:
        return _ASSISTANT
    return _PERSON if message.name else _USER
