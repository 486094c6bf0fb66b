"""Cut messages into topic segments (M3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

import numpy as np

from memci.language import chinese_words
from memci.language.detection import Language, language_of
from memci.language.topic_changes import PRICE, Seam, best_cuts, cut_into_pieces, seam_price
from memci.message import Message, Role
from memci.smallmodel.offline.sentence_embedder import MODEL, unit_rows
from memci.smallmodel.ports import TopicSegment, Vectors

# Characters of a segment's text, at most.
LONGEST_SEGMENT = 1_500
# A silence of this length begins a new conversation.
PAUSE = timedelta(hours=6)
# Share of MiniLM's vector in a Chinese utterance's; its words are the rest. MiniLM learned English.
_DENSE_SHARE_CHINESE = 0.27
# More usual words are independent of the topic.
_USUAL = 6.0


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

    def __init__(self, model: str) -> None:
        """Take the name of the model that makes the vectors."""
        self._model = model

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
        language = language_of("\n".join(unit.text for unit in units))
        cuts = best_cuts(
            self._vectors(units, vectors, language),
            [len(unit.text) for unit in units],
            [Seam(PRICE), *(_seam(before, after) for before, after in pairwise(units))],
            LONGEST_SEGMENT,
        )
        return [_segment(units[start:end]) for start, end in pairwise([*cuts, len(units)])]

    def _vectors(self, units: list[_Unit], vectors: Vectors, language: Language) -> Vectors:
        # The pieces of a long message share its vector: they belong together.
        dense = vectors[[unit.row for unit in units]]
        if language is not Language.CHINESE or self._model != MODEL:
            return dense
        # A unit too long to join a neighbour needs no words: so pieces of a long text cost none.
        near = [row for row in range(len(units)) if _can_join(units, row)]
        words = _word_vectors({row: units[row].text for row in near}, len(units))
        share = _DENSE_SHARE_CHINESE
        return np.hstack([np.sqrt(share) * dense, np.sqrt(1 - share) * words]).astype(np.float32)


def _can_join(units: list[_Unit], row: int) -> bool:
    neighbours = units[max(0, row - 1) : row] + units[row + 1 : row + 2]
    room = LONGEST_SEGMENT - len(units[row].text)
    return any(len(neighbour.text) < room for neighbour in neighbours)


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


def _word_vectors(texts: Mapping[int, str], rows: int) -> Vectors:
    """Return unit rows over the words of all texts (by row), weighted by rarity."""
    columns: dict[str, int] = {}
    cells: list[tuple[int, int, float]] = []
    for row, text in texts.items():
        for word in chinese_words.words(text):
            weight = chinese_words.rarity(word) - _USUAL
            if len(word) > 1 and weight > 0:
                cells.append((row, columns.setdefault(word, len(columns)), weight))
    table = np.zeros((rows, max(1, len(columns))), dtype=np.float32)
    for row, column, weight in cells:
        table[row, column] += weight
    return unit_rows(table)
