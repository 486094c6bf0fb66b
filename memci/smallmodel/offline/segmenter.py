"""Cut messages into topic segments (M3)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from memci.language.detection import language_of
from memci.language.sentences import cut_into_pieces
from memci.language.topic_changes import (
    PRICE,
    Seam,
    begins_next_event,
    best_cuts,
    seam_price,
)
from memci.message import Message, Role
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader, TopicChange
from memci.smallmodel.ports import TopicSegment
from memci.smallmodel.vector_space import Vectors, VectorSpace

# Characters of a segment's text, at most.
LONGEST_SEGMENT = 1_500
# A silence of this length begins a new conversation.
PAUSE = timedelta(hours=6)


# Factors by which the probability of a topic change lowers the price of a cut. The parts of a
# message share a vector, so that there only this price decides.
_BETWEEN, _INSIDE = 0.3, 2 * PRICE
# Sentences at the beginning of a message; where one of them turns to another topic, it begins one.
_TURNING = 3
_USUAL = 0.2  # the probability at which a message has the usual price
# Who sends several messages in a row often has another matter in each.
_BETWEEN_OWN = 1.25
# Of a change inside a message without paragraphs. Messages that come together are a talk, of which
# most messages are on one matter; those that come one by one are mostly longer.
_LEAST, _LEAST_IN_TALK = 0.5, 0.9


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of a message; ``row`` is the message's row in the vectors."""

    message: Message
    row: int
    text: str
    first: bool
    begins: float  # probability that it begins another topic


class OfflineSegmenter:
    """Detects topic changes by a model of sentences, and by the similarity of messages.

    Long messages are also cut at their own seams. A new session, another user or six hours of
    silence change the topic. A tool call and its results stay together, as far as the length
    allows.
    """

    def __init__(self, space: Callable[[], VectorSpace], reader: OfflineSentenceReader) -> None:
        """Take what returns the space of the vectors, which may load a model, and the reader."""
        self._space = space
        self._reader = reader

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        """Cut ``messages`` (ascending seq), one row of ``vectors`` each.

        Messages without text give nothing.
        """
        changes = self._reader.topic_changes(messages)
        least = _LEAST if len(messages) == 1 else _LEAST_IN_TALK
        units = [
            unit
            for row, (message, own) in enumerate(zip(messages, changes, strict=True))
            for unit in _units(message, row, own, least)
        ]
        if not units:
            return []
        if len(units) == 1:
            return [_segment(units)]
        cuts = best_cuts(
            # The parts of a message share its vector.
            vectors[[unit.row for unit in units]],
            [len(unit.text) for unit in units],
            [Seam(PRICE), *(_seam(before, after) for before, after in pairwise(units))],
            LONGEST_SEGMENT,
            self._space().unrelated,
        )
        return [_segment(units[start:end]) for start, end in pairwise([*cuts, len(units)])]


def _units(
    message: Message, row: int, changes: Sequence[TopicChange], least: float
) -> Iterator[_Unit]:
    """Yield the parts of a message between its topic changes, long ones in pieces."""
    text = message.text
    starts = [
        after.start
        for before, after in pairwise(changes)
        if after.likely >= (_LEAST if "\n\n" in text[before.start : after.start] else least)
        or (before.is_event and after.is_event and begins_next_event(text[after.start :]))
    ]
    kept = (each.likely for each in changes[:_TURNING] if each.start not in starts)
    begins, first = max(kept, default=0.0), True
    for start, stop in pairwise([0, *starts, len(text)]):
        for piece in cut_into_pieces(text[start:stop], LONGEST_SEGMENT):
            yield _Unit(message, row, piece, first, begins)
            first, begins = False, 0.0
        begins = 1.0


def _segment(units: Sequence[_Unit]) -> TopicSegment:
    text = "\n".join(unit.text for unit in units)
    seqs = tuple(dict.fromkeys(unit.message.seq for unit in units))
    return TopicSegment(text, seqs, language_of(text))


def _seam(before: _Unit, after: _Unit) -> Seam:
    one, other = before.message, after.message
    if not after.first:
        return Seam(PRICE - _INSIDE * after.begins)
    if (one.session_id, one.user_id) != (other.session_id, other.user_id):
        return Seam(PRICE, forced=True)
    if other.said_at - one.said_at >= PAUSE:
        return Seam(PRICE, forced=True)
    if other.role is Role.TOOL:
        return Seam(PRICE, closed=True)
    own = (one.role, one.name) == (other.role, other.name)
    weight = _BETWEEN_OWN if own else _BETWEEN
    return Seam(seam_price(before.text, after.text) - weight * (after.begins - _USUAL))
