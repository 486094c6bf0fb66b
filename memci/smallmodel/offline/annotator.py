"""Says what a text is about, of what type it is and what it is worth (M4, R3, R4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memci.domain.language import Language, language_of
from memci.domain.memory.node import NodeType
from memci.smallmodel.offline import chinese
from memci.smallmodel.offline.candidates import clause_values
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.cues import EPISODIC, PROCEDURAL, Cue, cues_of, is_social
from memci.smallmodel.offline.entities import entities
from memci.smallmodel.offline.keywords import keywords
from memci.smallmodel.offline.sentences import sentences
from memci.smallmodel.ports import Annotation

LONGEST_PHRASE = 80

# Characters read of one text: topic segments are shorter, and a million need not be.
_READ = 8_000
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万两]+(?:个|年|月|日|号|点|次|元|天|周|岁|人|台)"
)
_ROUNDED = 1
_LONG_ENOUGH_TO_TELL = 120
# Worth of a text by the strongest thing that it does (R3), and of each further one.
_WORTH = {
    Cue.DECISION: 4.5,
    Cue.PREFERENCE: 4.0,
    Cue.PLAN: 4.0,
    Cue.FACT: 4.0,
    Cue.LESSON: 3.5,
    Cue.CORRECTION: 3.5,
    Cue.CONSTRAINT: 3.5,
}
_WORTH_OF_ANOTHER = 0.6
_WORTH_OF_DETAIL = 0.8  # a number or a date; a name; more than a remark
_WORTH_OF_STATEMENT = 1.2
_WORTH_OF_SMALL_TALK = 0.5


class OfflineAnnotator:
    """Statistics and cues, for English and Chinese; other languages by English's rules."""

    def __init__(self) -> None:
        self._compressor = OfflineCompressor()

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Annotate each text by itself; as many answers as texts, in their order."""
        return [self._annotate(text[:_READ]) for text in texts]

    def _annotate(self, text: str) -> Annotation:
        language = language_of(text)
        tagged = chinese.tagged_words(text) if language is Language.CHINESE else []
        names = entities(text, language, tagged)
        return Annotation(
            phrase=self._phrase(text),
            keywords=tuple(keywords(text, language, tagged, names)),
            entities=tuple(names),
            type=_type(text),
            worth=worth_of(text, named=bool(names)),
        )

    def _phrase(self, text: str) -> str:
        """The clause that tells most and fits; else the text, compressed."""
        best, best_value = "", 0.0
        for clause, value in clause_values(text):
            if len(clause) <= LONGEST_PHRASE and value > best_value:
                best, best_value = clause, value
        return best or " ".join(self._compressor.compress(text, LONGEST_PHRASE).split())


def _statements(text: str) -> list[str]:
    return [
        sentence
        for sentence in sentences(text)
        if not sentence.endswith(("?", "？")) and not is_social(sentence)
    ]


def _type(text: str) -> NodeType:
    statements = _statements(text)
    counts = Counter(
        kind
        for sentence in statements
        for kind, cue in ((NodeType.PROCEDURAL, PROCEDURAL), (NodeType.EPISODIC, EPISODIC))
        if cue.search(sentence)
    )
    if PROCEDURAL.search(text) and counts[NodeType.PROCEDURAL] >= counts[NodeType.EPISODIC] > 0:
        return NodeType.PROCEDURAL
    if counts[NodeType.PROCEDURAL] * 2 >= len(statements) > 0 and counts[NodeType.PROCEDURAL]:
        return NodeType.PROCEDURAL
    if counts[NodeType.EPISODIC] * 3 >= len(statements) > 0 and counts[NodeType.EPISODIC]:
        return NodeType.EPISODIC
    return NodeType.SEMANTIC


def worth_of(text: str, *, named: bool) -> float:
    """Return how much a text is worth keeping (R3), 0 to 10; ``named``: it names something."""
    statements = _statements(text)
    if not statements:
        return _WORTH_OF_SMALL_TALK
    told = "\n".join(statements)
    cues = sorted((_WORTH[cue] for cue in cues_of(told)), reverse=True)
    worth = _WORTH_OF_STATEMENT + sum(cues[:1]) + _WORTH_OF_ANOTHER * len(cues[1:4])
    details = (bool(_NUMBER.search(told)), named, len(told) >= _LONG_ENOUGH_TO_TELL)
    return round(min(10.0, worth + _WORTH_OF_DETAIL * sum(details)), _ROUNDED)
