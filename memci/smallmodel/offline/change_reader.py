"""The built-in reader of changes: a model that reads an older and a newer text together (R6)."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from memci.language.clauses import label_of
from memci.language.sentences import Span
from memci.smallmodel.offline.change_filter import may_end
from memci.smallmodel.offline.e5_embedder import MODEL, OfflineEmbedder
from memci.smallmodel.ports import TextPair

# F1 on the judged parts is about the same from 0.25 to 0.5; what is noted wrongly is more harm than
# what is missed, and ordinary talk ends little.
_LEAST = 0.5
# Characters of an older text; of a longer one, lines around the one most like the newer are read.
_READ = 120
_LINE = re.compile(r"[^\n]+")
# Older texts that a newer one is read with: those whose facts it likeliest ends.
_MOST = 2

# Of the older messages that a newer text may end; None: not known. See ``may_end``.
_Odds: TypeAlias = dict[int, float] | None


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
        likely = _likeliest(pairs)
        found: list[list[Span]] = [[] for _ in pairs]
        ended = self._ended([(pairs[place], each) for place, each in likely.items()])
        for place, spans in zip(likely, ended, strict=True):
            found[place] = spans
        return found

    def _ended(self, likely: Sequence[tuple[TextPair, _Odds]]) -> list[list[Span]]:
        pairs, parts = [pair for pair, _ in likely], [self._part(*each) for each in likely]
        labels = [_label(pair.older, part) for pair, part in zip(pairs, parts, strict=True)]
        read = self._embedder.read_pairs(
            [
                (label + pair.older[slice(*part)], pair.newer)
                for pair, part, label in zip(pairs, parts, labels, strict=True)
            ]
        )
        begins = [start - len(label) for (start, _), label in zip(parts, labels, strict=True)]
        return [
            [(begin + start, begin + stop) for (start, stop), likely in facts if likely >= _LEAST]
            for begin, facts in zip(begins, read, strict=True)
        ]

    def _part(self, pair: TextPair, messages: _Odds) -> Span:
        """Return which part of an older text is read; ``messages``: see ``may_end``."""
        older = pair.older
        lines = [found.span() for found in _LINE.finditer(older)]
        if len(older) <= _READ or not lines[1:]:
            return 0, len(older)
        # Each line of a fresh memory of short messages has the label of its speaker.
        labelled = len(lines) == len(pair.older_bits) and all(
            label_of(older, *own) for own in lines
        )
        if messages and labelled:
            return _around(lines, [messages.get(at, 0.0) for at in range(len(lines))])
        # Labels would make lines alike.
        said = [_said(older, line) for line in lines]
        newer_said = _said(pair.newer, (0, len(pair.newer)))
        *vectors, newer = self._embedder.embed([*said, newer_said])
        return _around(lines, [float(vector @ newer) for vector in vectors])


def _likeliest(pairs: Sequence[TextPair]) -> dict[int, _Odds]:
    """Return the places of the pairs that are read."""
    odds = {place: may_end(*each[2:]) for place, each in enumerate(pairs)}
    # Of texts without bits nothing is known: they are read.
    highest = {
        place: math.inf if each is None else max(each.values(), default=0.0)
        for place, each in odds.items()
    }
    likely: dict[int, _Odds] = {}
    read = Counter[str]()
    for place in sorted(odds, key=lambda place: -highest[place]):
        newer = pairs[place].newer
        if highest[place] and read[newer] < _MOST:
            likely[place] = odds[place]
            read[newer] += 1
    return likely


def _label(text: str, part: Span) -> str:
    """Return the label of the last line that has one before a part, unless the part has its own."""
    if label_of(text, *part):
        return ""
    before = (label_of(text, *line.span()) for line in _LINE.finditer(text, 0, part[0]))
    return next((each for each in reversed([*before]) if each), "")


def _said(text: str, line: Span) -> str:
    start, stop = line
    return text[start + len(label_of(text, start, stop)) : stop]


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
