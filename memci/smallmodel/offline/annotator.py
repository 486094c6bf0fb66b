"""Offline annotator, judge and query planner: statistics and phrases, no model (M4, R3, R10)."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from memci.domain.memory.node import NodeType
from memci.language import chinese_words
from memci.language.clause_values import clause_values
from memci.language.cue_phrases import EPISODIC, PROCEDURAL, is_social
from memci.language.detection import Language, language_of
from memci.language.keywords import keywords_of
from memci.language.names import find_entities
from memci.language.question import shortened_question, split_questions
from memci.language.sentences import sentences
from memci.language.worth import Judgement, judge_worth
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.ports import Annotation

LONGEST_PHRASE = 80

# Characters read of one text: topic segments are shorter, and a million need not be.
_READ = 8_000


class OfflineAnnotator:
    """Uses statistics and cues, for English and Chinese; other languages by English's rules."""

    def __init__(self) -> None:
        self._compressor = OfflineCompressor()

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Annotate each text by itself; as many answers as texts, in their order."""
        return [self._annotate(text[:_READ]) for text in texts]

    def _annotate(self, text: str) -> Annotation:
        language = language_of(text)
        words, names = keywords_of(text, language)
        return Annotation(
            phrase=self._phrase(text),
            keywords=tuple(words),
            entities=tuple(names),
            type=_type(text),
        )

    def _phrase(self, text: str) -> str:
        """Return the most valuable clause that fits, else the text, compressed."""
        best, best_value = "", 0.0
        for clause, value in clause_values(text):
            # Brackets are remarks about the conversation; exclamations have no content.
            telling = not clause.startswith(("[", "【")) and not is_social(clause)
            if telling and len(clause) <= LONGEST_PHRASE and value > best_value:
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


class OfflineJudge:
    """Uses cues and statistics, for English and Chinese; it ignores summaries."""

    def judge(self, texts: Sequence[str], summaries: Sequence[str] = ()) -> list[Judgement]:
        """Judge each text by itself; as many answers as texts, in their order."""
        del summaries
        shortened = [text[:_READ] for text in texts]
        return [judge_worth(text, partial(_names, text)) for text in shortened]


def _names(text: str) -> bool:
    language = language_of(text)
    tagged = chinese_words.tagged_words(text) if language is Language.CHINESE else []
    return bool(find_entities(text, tagged))


_LONGEST = 300


class OfflineQueryPlanner:
    """Returns the questions of the text, verbatim."""

    def plan(self, text: str, language: Language) -> list[str]:
        """Return at most 4 questions; none if ``text`` is only one, or they are too long."""
        del language
        parts = split_questions(shortened_question(text))
        several = len(parts) > 1 and all(len(each) <= _LONGEST for each in parts)
        return list(parts) if several else []
