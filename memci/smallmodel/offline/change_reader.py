"""The built-in reader of changes: a model that reads an older and a newer text together (R6)."""

import re
from collections.abc import Sequence

from memci.language.sentences import Span
from memci.smallmodel.offline.change_filter import likeness, may_end
from memci.smallmodel.offline.e5_embedder import MODEL, OfflineEmbedder
from memci.smallmodel.ports import TextPair

# F1 on pairs that the model has not seen is about the same from 0.25 to 0.5. More would be noted in
# ordinary talk, which ends little, if it were less.
_LEAST = 0.25
# Characters of an older text; of a longer one, lines around the one most like the newer are read.
_READ = 120
_LINE = re.compile(r"[^\n]+")


class OfflineChangeReader:
    """Reads English and Chinese, in any combination."""

    def __init__(self, embedder: OfflineEmbedder) -> None:
        """Take the built-in embedder, even if another one makes the vectors."""
        self._embedder = embedder

    @property
    def bits_of(self) -> str:
        """The embedder whose bits it reads."""
        return MODEL

    def ended(self, pairs: Sequence[TextPair]) -> list[list[Span]]:
        """Return the clauses of each older text that hold no more once the newer one is said."""
        likely = [place for place, each in enumerate(pairs) if may_end(*each[2:])]
        found: list[list[Span]] = [[] for _ in pairs]
        ended = self._ended([pairs[place] for place in likely])
        for place, spans in zip(likely, ended, strict=True):
            found[place] = spans
        return found

    def _ended(self, pairs: Sequence[TextPair]) -> list[list[Span]]:
        parts = [self._part(pair) for pair in pairs]
        read = self._embedder.read_pairs(
            [
                (pair.older[slice(*part)], pair.newer)
                for pair, part in zip(pairs, parts, strict=True)
            ]
        )
        return [
            [(start + begin, start + end) for (begin, end), likely in facts if likely >= _LEAST]
            for (start, _), facts in zip(parts, read, strict=True)
        ]

    def _part(self, pair: TextPair) -> Span:
        """Return which part of an older text is read: [start, stop)."""
        older = pair.older
        lines = [found.span() for found in _LINE.finditer(older)]
        if len(older) <= _READ or not lines[1:]:
            return 0, len(older)
        alike = likeness(*pair[2:])
        if len(alike) != len(lines):
            # A line is no message.
            *vectors, newer = self._embedder.embed(
                [*(older[slice(*line)] for line in lines), pair.newer]
            )
            alike = [float(vector @ newer) for vector in vectors]
        return _around(lines, alike)


def _around(lines: Sequence[Span], alike: Sequence[float]) -> Span:
    """Return the part around the likeliest line that is at most as long as what is read."""
    first = last = max(range(len(lines)), key=lambda each: alike[each])
    while True:
        wider = [
            (low, high)
            for low, high in ((first - 1, last), (first, last + 1))
            if low >= 0 and high < len(lines) and lines[high][1] - lines[low][0] <= _READ
        ]
        if not wider:
            return lines[first][0], lines[last][1]
        first, last = max(wider, key=lambda each: max(alike[each[0]], alike[each[1]]))
