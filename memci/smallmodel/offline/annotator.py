"""Offline annotator, judge and query planner (M4, R3, R10)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from memci.domain.memory.node import NodeType
from memci.language.clause_values import clause_values
from memci.language.cue_phrases import Cue, find_cues, is_social
from memci.language.detection import Language, language_of
from memci.language.keywords import keywords_of
from memci.language.question import shortened_question, split_questions
from memci.message import Message, Role
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader
from memci.smallmodel.ports import LONGEST_PHRASE, Annotation, Judgement, ReadSentence

# Characters read of one text: topic segments are shorter, and a million need not be.
_READ = 4_000
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # of a text that is read without its messages


class OfflineAnnotator:
    """Statistics for English and Chinese, other languages by English's rules; a model for types."""

    def __init__(self, reader: OfflineSentenceReader) -> None:
        """Take what reads the sentences of texts."""
        self._reader = reader
        self._compressor = OfflineCompressor()

    def annotate(
        self, texts: Sequence[str], sentences: Sequence[Sequence[ReadSentence]] = ()
    ) -> list[Annotation]:
        """Annotate each text by itself; as many answers as texts, in their order."""
        read = _read(self._reader, texts, sentences)
        return [self._annotate(text[:_READ], own) for text, own in zip(texts, read, strict=True)]

    def _annotate(self, text: str, sentences: Sequence[ReadSentence]) -> Annotation:
        words, names = keywords_of(text, language_of(text))
        return Annotation(
            phrase=self._phrase(text),
            keywords=tuple(words),
            entities=tuple(names),
            type=_type(sentences),
        )

    def _phrase(self, text: str) -> str:
        """Return the most valuable clause that fits, else the text, compressed."""
        best, best_value = "", 0.0
        for clause, value in clause_values(text):
            # Brackets are remarks about the conversation; exclamations have no content.
            telling = not clause.startswith(("[", "【")) and not is_social(clause)
            if telling and len(clause) <= LONGEST_PHRASE and value > best_value:
                best, best_value = clause, value
        if not best:
            best = " ".join(self._compressor.compress(text, LONGEST_PHRASE).split())
        if _has_words(best) or not _has_words(text):
            return best
        # Nothing shorter would be true: the beginning, which is seen to be cut.
        return f"{' '.join(text.split())[: LONGEST_PHRASE - 1]}…"


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _read(
    reader: OfflineSentenceReader, texts: Sequence[str], known: Sequence[Sequence[ReadSentence]]
) -> list[Sequence[ReadSentence]]:
    """Return the sentences of each text: those ``known``, or else as if a user said it.

    None are known of the later parts of very long messages.
    """
    found = list(known) or [()] * len(texts)
    unread = [at for at, text in enumerate(texts) if text.strip() and not found[at]]
    said = [Message(at + 1, "", Role.USER, texts[at][:_READ], _ANY_TIME) for at in unread]
    for at, own in zip(unread, reader.read(said) if said else (), strict=True):
        found[at] = own
    return found


def _type(sentences: Sequence[ReadSentence]) -> NodeType:
    """Return the type of most of what is told: greetings and questions tell nothing."""
    told = {each: sum(one.types[each] for one in sentences) for each in NodeType}
    return max(told, key=lambda each: told[each])


# The least worth of a text with such a sentence, by the best one; the default of
# long_term_importance_threshold is that of a fact.
_LEAST_WORTH = {"vital": 8.0, "life": 7.0, "fact": 6.0}
_KEPT = 0.4
_ALWAYS_KEPT = {Cue.LESSON, Cue.CORRECTION}
_WORTHS = {"talk": 0.5, "trifle": 1.5, "remark": 4.0}
_ROUNDED = 1


class OfflineJudge:
    """A model of sentences, for English and Chinese; it ignores summaries."""

    def __init__(self, reader: OfflineSentenceReader) -> None:
        """Take what reads the sentences of texts."""
        self._reader = reader

    def judge(
        self,
        texts: Sequence[str],
        summaries: Sequence[str] = (),
        sentences: Sequence[Sequence[ReadSentence]] = (),
    ) -> list[Judgement]:
        """Judge each text by itself; as many answers as texts, in their order."""
        del summaries
        read = _read(self._reader, texts, sentences)
        return [_judgement(text[:_READ], own) for text, own in zip(texts, read, strict=True)]


def _judgement(text: str, sentences: Sequence[ReadSentence]) -> Judgement:
    """Judge a text by its best sentence; it is eligible if that tells more than a remark."""
    worths = [_worth(each.worths) for each in sentences]
    # The model misses these; where the phrases speak, they are right.
    if _ALWAYS_KEPT & find_cues(text):
        worths.append((True, _LEAST_WORTH["fact"]))
    eligible, worth = max(worths, default=(False, 0.0))
    return Judgement(eligible, round(worth, _ROUNDED))


def _worth(likely: Mapping[str, float]) -> tuple[bool, float]:
    """Return whether a sentence is worth keeping, and its worth."""
    kept = sum(likely[each] for each in _LEAST_WORTH)
    if kept < _KEPT:
        return False, sum(worth * likely[each] for each, worth in _WORTHS.items()) / (1 - kept)
    best = max(_LEAST_WORTH, key=lambda each: likely[each])
    return True, _LEAST_WORTH[best] + likely[best]


_LONGEST = 300


class OfflineQueryPlanner:
    """Returns the questions of the text, verbatim."""

    def plan(self, text: str, language: Language) -> list[str]:
        """Return at most 4 questions; none if ``text`` is only one, or they are too long."""
        del language
        parts = split_questions(shortened_question(text))
        several = len(parts) > 1 and all(len(each) <= _LONGEST for each in parts)
        return list(parts) if several else []
