"""The built-in reader of sentences: the sentence model on the built-in embedder's states."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memci.domain.memory.node import NodeType
from memci.domain.pages.pins import PinKind
from memci.message import Message, Role
from memci.smallmodel.offline import change_filter
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder, Sentences
from memci.smallmodel.offline.sentence_model import (
    KEYS,
    SPEAKERS,
    TYPES,
    WORTHS,
    change_probabilities,
    probabilities,
)
from memci.smallmodel.ports import ReadSentence

_USER, _PERSON, _ASSISTANT = SPEAKERS
_LEAST_EVENT = 0.5
# Of a key message: it costs tokens in every context, but is missed for long if it is left out.
_LEAST_KEY = 0.4


class TopicChange(NamedTuple):
    """A sentence as the segmenter needs it."""

    start: int  # in the message's text
    likely: float  # the probability that it begins another topic
    is_event: bool  # it tells what happened


class OfflineSentenceReader:
    """Reads English and Chinese sentences; what was just encoded costs almost nothing."""

    def __init__(self, embedder: OfflineEmbedder) -> None:
        """Take the built-in embedder, even if another one makes the vectors."""
        self._embedder = embedder

    def read(self, messages: Sequence[Message]) -> list[list[ReadSentence]]:
        """Return the sentences of each message in order; none for a message without text."""
        found = []
        for message, sentences in zip(messages, self._sentences(messages), strict=True):
            # The speaker's name, which the model reads, is no part of the text.
            name = len(message.searched) - len(message.text)
            keys, types, worths = _probabilities(sentences, speaker_of(message))
            likely_news = change_filter.news(sentences.features)
            found.append(
                [
                    ReadSentence(
                        max(start - name, 0),
                        stop - name,
                        _key(keys[row]),
                        {NodeType(each): float(types[row, at]) for at, each in _NODE_TYPES},
                        dict(zip(WORTHS, worths[row].tolist(), strict=True)),
                        float(likely_news[row]),
                    )
                    for row, (start, stop) in enumerate(sentences.spans)
                    if stop > name
                ]
            )
        return found

    def topic_changes(self, messages: Sequence[Message]) -> list[list[TopicChange]]:
        """Return whether another topic begins with each sentence of each message.

        ``messages``: of a conversation, in order.
        """
        read = self._sentences(messages)
        speakers = [f"{message.role} {message.name}" for message in messages]
        spoken = [(who, each.features) for who, each in zip(speakers, read, strict=True)]
        changes = change_probabilities(spoken)
        found = []
        for message, sentences, own in zip(messages, read, changes, strict=True):
            name = len(message.searched) - len(message.text)
            types = probabilities("kind", sentences.features, speaker_of(message))
            events = types[:, TYPES.index(NodeType.EPISODIC)] >= _LEAST_EVENT
            found.append(
                [
                    TopicChange(max(start - name, 0), likely, bool(event))
                    for (start, stop), likely, event in zip(
                        sentences.spans, own, events, strict=True
                    )
                    if stop > name
                ]
            )
        return found

    def _sentences(self, messages: Sequence[Message]) -> list[Sentences]:
        spoken = [message.searched for message in messages if message.text.strip()]
        found = iter(self._embedder.sentences(spoken))
        nothing = Sentences.joined([])
        return [next(found) if message.text.strip() else nothing for message in messages]


_NODE_TYPES = [(at, each) for at, each in enumerate(TYPES) if each != "none"]


def _probabilities(sentences: Sentences, speaker: str) -> list[np.ndarray]:
    return [probabilities(head, sentences.features, speaker) for head in ("key", "kind", "worth")]


def _key(likely: np.ndarray) -> PinKind | None:
    if likely[1:].sum() < _LEAST_KEY:
        return None
    return PinKind(KEYS[1 + int(likely[1:].argmax())])


def speaker_of(message: Message) -> str:
    """Return who speaks, as the model distinguishes: a user with a name speaks to people."""
    if message.role is not Role.USER:
        return _ASSISTANT
    return _PERSON if message.name else _USER
