"""Cut messages into topic segments (M3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from memci.language.detection import language_of
from memci.language.topic_changes import PRICE, Seam, best_cuts, cut_into_pieces, seam_price
from memci.message import Message, Role
from memci.smallmodel.ports import TopicSegment
from memci.smallmodel.vector_space import Vectors, VectorSpace

# Characters of a segment's text, at most.
LONGEST_SEGMENT = 1_500
# A silence of this length begins a new conversation.
PAUSE = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A message, or a piece of a long one; ``row`` is the message's row in the vectors."""

    message: Message
    row: int
    text: str
    first: bool


class OfflineSegmenter:
    """Detects topic changes by similarity of utterances and by their first and last phrases.

    Long messages are cut at their own seams. A new session, another user or six hours of silence
    also change the topic. A tool call and its results stay together, as far as the length allows.
    """

    def __init__(self, space: Callable[[], VectorSpace]) -> None:
        """Take what returns the space of the vectors; to compute it may load a model."""
        self._space = space

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        """Cut ``messages`` (ascending seq), one row of ``vectors`` each.

        Messages without text give nothing.
        """
        units = [
            _Unit(message, row, piece, first=index == 0)
            for row, message in enumerate(messages)
            for index, piece in enumerate(cut_into_pieces(message.text, LONGEST_SEGMENT))
        ]
        if not units:
            return []
        if len(units) == 1:
            return [_segment(units)]
        cuts = best_cuts(
            # The pieces of a long message share its vector: they belong together.
            vectors[[unit.row for unit in units]],
            [len(unit.text) for unit in units],
            [Seam(PRICE), *(_seam(before, after) for before, after in pairwise(units))],
            LONGEST_SEGMENT,
            self._space().unrelated,
        )
        return [_segment(units[start:end]) for start, end in pairwise([*cuts, len(units)])]


def _segment(units: Sequence[_Unit]) -> TopicSegment:
    text = "\n".join(unit.text for unit in units)
    seqs = tuple(dict.fromkeys(unit.message.seq for unit in units))
    return TopicSegment(text, seqs, language_of(text))


def _seam(before: _Unit, after: _Unit) -> Seam:
    one, other = before.message, after.message
    if not after.first:
        return Seam(PRICE)
    if (one.session_id, one.user_id) != (other.session_id, other.user_id):
        return Seam(PRICE, forced=True)
    if other.said_at - one.said_at >= PAUSE:
        return Seam(PRICE, forced=True)
    if other.role is Role.TOOL:
        return Seam(PRICE, closed=True)
    return Seam(seam_price(before.text, after.text))
